import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { isAppError } from '@svc/errors';
import { RelayTimeout } from '@svc/http';
import { KUBERNETES_SERVICE, type TunnelRequest } from '@svc/protocol';
import { failUnanswered, type Clock } from '@svc/runtime';
import type { Cluster } from '../../domain/cluster.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';
import { clusterErrors } from '../../errors.ts';
import type { AgentTunnel } from '../tunnel/agent-tunnel.ts';
import type { AgentTunnels } from '../tunnel/agent-tunnels.ts';
import { offlineError, toTunnelError } from '../tunnel/tunnel-errors.ts';
import { toKubernetesError } from './kubernetes-errors.ts';

/**
 * The caller on whose behalf the API server is queried. The agent's policy and the server's RBAC decide after the
 * platform.
 */
export interface KubernetesCaller {
  cluster: Pick<Cluster, 'id' | 'name'>;
  principalId: string;
  role: string;
}

export interface KubernetesApiOptions {
  tunnels: AgentTunnels;
  store: TunnelStore;
  clock: Clock;
  answerTimeoutMs: number;
}

export interface KubernetesQuestion {
  /** For example `/api/v1/pods`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  timeoutMs?: number;
  maxSizeBytes?: number;
}

/** 200 complete pods take about 4 MiB; a larger response than this is a fault of the peer. */
const MAX_ANSWER_SIZE_BYTES = 32 * 1024 * 1024;
const HEAD = { headers: { host: KUBERNETES_SERVICE, accept: 'application/json' }, maxHeaderSize: 64 * 1024 } as const;

/** Client for a cluster's API server, through its agent's tunnel. */
export class KubernetesApi {
  readonly #options: KubernetesApiOptions;

  constructor(options: KubernetesApiOptions) {
    this.#options = options;
  }

  /** Throws `AGENT_OFFLINE`, which names the replica that holds the tunnel if it is another one. */
  async findTunnel({ cluster }: KubernetesCaller): Promise<AgentTunnel> {
    const tunnel = this.#options.tunnels.find(cluster.id);
    if (tunnel === undefined) throw await offlineError(this.#options, cluster.id, cluster.name);
    return tunnel;
  }

  /** Returns the body of a GET. Maps API server errors to catalogue errors. */
  async get(caller: KubernetesCaller, question: KubernetesQuestion): Promise<unknown> {
    const tunnel = await this.findTunnel(caller);
    const agent = tunnel.connectionsFor(tunnelRequestOf(caller));
    const { signal, timeoutMs = this.#options.answerTimeoutMs } = question;
    for (;;) {
      let outgoing: ClientRequest | undefined;
      try {
        outgoing = sendRequest({ agent, signal, method: 'GET', path: pathOf(question), ...HEAD });
        return await answerTo(outgoing, question, timeoutMs, caller.cluster.name);
      } catch (error) {
        // The peer may close a kept-alive connection just as it is reused.
        const isStale = outgoing?.reusedSocket === true && !isAppError(error) && !(error instanceof RelayTimeout);
        if (isStale && !signal.aborted) continue;
        throw toTunnelError(error, { cluster: caller.cluster.name, service: KUBERNETES_SERVICE });
      }
    }
  }
}

export function tunnelRequestOf({ principalId, role }: KubernetesCaller): TunnelRequest {
  return { service: KUBERNETES_SERVICE, user: `svc:user:${principalId}`, role };
}

function pathOf({ path, query = {} }: KubernetesQuestion): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

async function answerTo(
  outgoing: ClientRequest,
  { maxSizeBytes = MAX_ANSWER_SIZE_BYTES }: KubernetesQuestion,
  timeoutMs: number,
  cluster: string,
): Promise<unknown> {
  const timer = setTimeout(() => outgoing.destroy(new RelayTimeout(timeoutMs)), timeoutMs);
  failUnanswered(outgoing);
  try {
    outgoing.end();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('error', reject);
      outgoing.once('response', resolve);
    });
    const body = await readJson(response, maxSizeBytes, cluster);
    const status = response.statusCode ?? 502;
    if (status !== 200) throw toKubernetesError(status, body, cluster);
    return body;
  } finally {
    clearTimeout(timer);
  }
}

async function readJson(response: IncomingMessage, maxSizeBytes: number, cluster: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxSizeBytes) {
      response.destroy();
      const reason = `its answer is larger than ${maxSizeBytes} bytes; ask for a smaller page_size`;
      throw clusterErrors.KUBERNETES_ERROR({ details: { cluster, reason } });
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch (cause) {
    throw clusterErrors.KUBERNETES_ERROR({ details: { cluster, reason: 'the response is not JSON' }, cause });
  }
}
