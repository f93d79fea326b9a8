import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { EXEC_PROTOCOLS } from '@svc/kube/values';
import { KUBERNETES_SERVICE } from '@svc/protocol';
import { WebSocket } from 'ws';
import { clusterErrors } from '../../errors.ts';
import type { AgentTunnel } from '../tunnel/agent-tunnel.ts';
import { toTunnelError } from '../tunnel/tunnel-errors.ts';
import { tunnelRequestOf, type KubernetesCaller } from './kubernetes-api.ts';
import { toKubernetesError } from './kubernetes-errors.ts';
import type { ShellRequest } from '../../domain/kubernetes/shell-request.ts';

const HANDSHAKE_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

export type ExecRequest = Pick<ShellRequest, 'namespace' | 'pod' | 'command' | 'tty'> & { container: string };

/**
 * Opens the WebSocket of `pods/exec` through the tunnel. It starts paused, so no message is lost before a listener is
 * attached.
 */
export async function openExec(
  tunnel: AgentTunnel,
  caller: KubernetesCaller,
  wanted: ExecRequest,
  signal: AbortSignal,
): Promise<WebSocket> {
  const target = { cluster: caller.cluster.name, service: KUBERNETES_SERVICE };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS)]);
  try {
    return await shakeHands(tunnel.open(tunnelRequestOf(caller)), pathOf(wanted), caller.cluster.name, deadline);
  } catch (error) {
    if (deadline.aborted && !signal.aborted) {
      throw clusterErrors.TUNNEL_TIMEOUT({ details: { ...target, reason: 'the shell did not begin' } });
    }
    throw toTunnelError(error, target);
  }
}

function shakeHands(stream: Duplex, path: string, cluster: string, signal: AbortSignal): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${KUBERNETES_SERVICE}${path}`, [...EXEC_PROTOCOLS], {
    // A tunnel stream stands in for the socket; `ws` needs only a duplex.
    createConnection: () => stream as Socket,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    socket.on('error', fail);
    socket.once('open', () => {
      signal.removeEventListener('abort', abort);
      socket.pause();
      resolve(socket);
    });
    socket.once('unexpected-response', (_request, response) => {
      readRefusal(response).then((body) => fail(toKubernetesError(response.statusCode ?? 502, body, cluster)), fail);
    });
  });
}

function pathOf({ namespace, pod, container, command, tty }: ExecRequest): string {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: String(tty) });
  if (!tty) query.set('stderr', 'true'); // a TTY merges stderr into stdout
  for (const word of command) query.append('command', word);
  return `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query.toString()}`;
}

async function readRefusal(response: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > MAX_REFUSAL_BYTES) return null;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null; // the status alone is enough
  }
}
