import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import {
  createGrantedAccess,
  createGrantedRight,
  type Access,
  type AuthorizeRequest,
  type AuditLog,
  type GrantedAccess,
  type Principal,
  isTrustedOrigin,
} from '@svc/access';
import { isAppError, toAppError, type AppError } from '@svc/errors';
import {
  callerKey,
  RateLimiter,
  rateLimitHeaders,
  renderNestedError,
  type UpgradeHold,
  type UpgradeRequest,
  type UpgradeRoute,
} from '@svc/http';
import { TERMINAL_CLOSE_CODES } from '@svc/link';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '@svc/runtime';
import type { Cluster, ClusterStore } from '../../domain/cluster.ts';
import { clusterErrors } from '../../errors.ts';
import { acceptWebSocket, requireWebSocket } from '../accept-websocket.ts';
import { ownedTunnel } from '../owned.ts';
import { rightToCluster } from '../tunnel/tunnel-access.ts';
import { openShell } from '../../adapters/kubernetes/exec-connection.ts';
import type { KubernetesApi, KubernetesCaller } from '../../adapters/kubernetes/kubernetes-api.ts';
import { isShellPath, parseShellRequest, type ShellRequest } from '../../domain/kubernetes/shell-request.ts';
import { refuseShell, ShellSession } from './shell-session.ts';
import { recordsAt, textAt } from '@svc/kube/values';

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Returns the requested container, else the pod's default container, else its only one. */
async function chooseContainer(
  api: KubernetesApi,
  caller: KubernetesCaller,
  { namespace, pod, container }: ShellRequest,
  signal: AbortSignal,
): Promise<string> {
  const found = await api.get(caller, { path: `/api/v1/namespaces/${namespace}/pods/${pod}`, signal });
  const specs = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((each) =>
    recordsAt(found, 'spec', each),
  );
  const names = specs.map((each) => textAt(each, 'name') ?? '');
  const wanted = container ?? textAt(found, 'metadata', 'annotations', DEFAULT_CONTAINER);
  if (wanted !== null && names.includes(wanted)) return wanted;
  const [only, ...others] = recordsAt(found, 'spec', 'containers').map((each) => textAt(each, 'name') ?? '');
  if (container === null && only !== undefined && others.length === 0) return only;
  const reason = `container must be one of ${names.join(', ')}`;
  throw clusterErrors.INVALID_REQUEST({ details: { field: 'container', reason } });
}

export interface ShellRouteOptions {
  access: Access;
  audit: AuditLog;
  clusters: ClusterStore;
  api: KubernetesApi;
  clock: Clock;
  publicUrl: () => string;
}

/** The subprotocol to request; also used for clients that request none. */
const SHELL_V1 = 'shell.v1';
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_SHELLS_PER_CLUSTER = 64;
const HEARTBEAT_EVERY_MS = 20_000;
const SHELL_RATE = { perMinute: 120, burst: 60 } as const;

/** The right to a shell. */
interface Held {
  /** Throws once the caller has lost the right. */
  check: () => Promise<void>;
  held: UpgradeHold;
}

/** `GET /v1/clusters/{cluster}/shell`: runs a process in a container, with or without a terminal. */
export class ShellRoute implements UpgradeRoute {
  readonly name = 'shell';
  readonly hold = 'required';
  readonly forwards = true;
  readonly render = renderNestedError;
  readonly #options: ShellRouteOptions;
  readonly #limiter: RateLimiter;
  readonly #open = new Map<string, number>();
  readonly #sessions = new Set<ShellSession>();
  readonly #stopping = new AbortController();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SHELL_V1) ? SHELL_V1 : false),
  });

  constructor(options: ShellRouteOptions) {
    this.#options = options;
    this.#limiter = new RateLimiter(SHELL_RATE, () => options.clock.nowMs());
  }

  matches(_request: IncomingMessage, url: URL): boolean {
    return isShellPath(url.pathname);
  }

  /** Denied access and an offline agent are reported over HTTP; errors from the cluster are sent as a frame. */
  async handle(upgrade: UpgradeRequest): Promise<void> {
    const { caller, principal, granted, cluster, check, held } = await this.#admit(upgrade);
    const wanted = parseShellRequest(upgrade.url);
    requireWebSocket(upgrade);
    if (await upgrade.forward(ownedTunnel(cluster), granted)) return;
    await this.#options.api.findTunnel(caller);
    if (this.#stopping.signal.aborted) throw clusterErrors.SHUTTING_DOWN({ headers: { 'retry-after': '1' } });
    const leave = this.#enter(cluster.id);
    try {
      await this.#record(upgrade, principal, cluster, wanted);
      if (upgrade.socket instanceof Socket) upgrade.socket.setTimeout(0); // the heartbeat detects dead clients
      const client = acceptWebSocket(this.#server, upgrade);
      if (client === undefined) return leave();
      void this.#begin(client, caller, wanted, { check, held }).finally(leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async drain(): Promise<void> {
    this.#stopping.abort();
    const sessions = [...this.#sessions];
    for (const session of sessions) session.close(TERMINAL_CLOSE_CODES.restarting, 'the platform is restarting');
    await Promise.all(sessions.map((session) => session.over));
  }

  async #admit({ request, url, client, hold }: UpgradeRequest): Promise<
    {
      caller: KubernetesCaller;
      principal: Principal;
      granted: GrantedAccess;
      cluster: Cluster;
    } & Held
  > {
    const { access, clusters, clock, publicUrl } = this.#options;
    if (!isTrustedOrigin(request.headers, [new URL(publicUrl()).origin], client.isSecure)) {
      throw clusterErrors.FORBIDDEN({ details: { field: 'Origin', reason: 'the request comes from another site' } });
    }
    const source = { headers: request.headers, method: 'GET', ...client };
    const shownAt = clock.now();
    const principal = await access.authenticate(source);
    const { cluster: name, workspaceUuid, teamUuid } = parseShellRequest(url);
    const asked: AuthorizeRequest = { principal, action: 'command:exec', workspaceUuid, teamUuid };
    const grant = await access.authorize(asked);
    const cluster = await clusters.find(grant.workspaceUuid, name);
    if (cluster === undefined) throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster: name } });
    const decision = this.#limiter.take(callerKey(principal));
    if (!decision.allowed) throw clusterErrors.RATE_LIMITED({ headers: rateLimitHeaders(decision) });
    const granted = createGrantedAccess(principal, shownAt, asked.action, grant);
    const right = rightToCluster(createGrantedRight(access, granted, shownAt.getTime()), clusters, cluster);
    const caller = { cluster, principalId: principal.id, role: grant.role };
    return { caller, principal, granted, cluster, check: () => right.check(), held: hold(right) };
  }

  /** Returns a function that releases the slot. */
  #enter(clusterId: string): () => void {
    const count = this.#open.get(clusterId) ?? 0;
    if (count >= MAX_SHELLS_PER_CLUSTER) {
      throw clusterErrors.TOO_MANY_SHELLS({ details: { limit: MAX_SHELLS_PER_CLUSTER } });
    }
    this.#open.set(clusterId, count + 1);
    return () => {
      const left = (this.#open.get(clusterId) ?? 1) - 1;
      if (left === 0) this.#open.delete(clusterId);
      else this.#open.set(clusterId, left);
    };
  }

  /** Resolves when the shell ends. Never rejects: failures are sent to the client. */
  async #begin(
    client: WebSocket,
    caller: KubernetesCaller,
    wanted: ShellRequest,
    { check, held }: Held,
  ): Promise<void> {
    const gone = new AbortController();
    client.pause(); // input typed meanwhile waits
    client.on('error', () => client.terminate()); // `close` follows
    client.once('close', () => gone.abort());
    const { api } = this.#options;
    try {
      const signal = AbortSignal.any([gone.signal, this.#stopping.signal]);
      const container = await chooseContainer(api, caller, wanted, signal);
      const tunnel = await api.findTunnel(caller);
      const process = await openShell(tunnel, caller, { ...wanted, container }, signal);
      client.send(JSON.stringify({ type: 'ready', container, tty: wanted.tty }));
      const whyLost = (): Promise<AppError | null> => catchRefusal(check);
      const size = wanted.tty ? wanted : null;
      await this.#follow(new ShellSession(client, process, { acknowledges: wanted.ack, size, whyLost }), held);
    } catch (error) {
      refuseShell(client, toAppError(error));
    }
  }

  async #follow(session: ShellSession, held: UpgradeHold): Promise<void> {
    const { clock } = this.#options;
    this.#sessions.add(session);
    held.farewell((refusal) => session.take(refusal));
    let cancel: () => void = () => undefined;
    const beat = (): void => {
      cancel = clock.setTimer(() => {
        session.heartbeat();
        beat();
      }, HEARTBEAT_EVERY_MS);
    };
    beat();
    await session.over;
    cancel();
    this.#sessions.delete(session);
  }

  async #record(
    { client, requestId }: UpgradeRequest,
    principal: Principal,
    cluster: Cluster,
    { namespace, pod }: ShellRequest,
  ): Promise<void> {
    await this.#options.audit.record({
      principal,
      action: 'command:exec',
      resource: `cluster/${cluster.name}`,
      workspaceUuid: cluster.workspaceUuid,
      outcome: 'success',
      status: 101,
      remoteAddress: client.remoteAddress,
      requestId,
      details: { namespace, pod },
    });
  }
}

/** Null while the caller still has the right, and when the check itself fails. */
async function catchRefusal(check: () => Promise<void>): Promise<AppError | null> {
  try {
    await check();
    return null;
  } catch (error) {
    return isAppError(error) && error.status < 500 ? error : null;
  }
}
