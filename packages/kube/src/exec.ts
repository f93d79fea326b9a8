import type { RequestOptions } from 'node:http';
import { Socket } from 'node:net';
import { WebSocket, type ClientOptions } from 'ws';
import { assertAccepted } from './answers.ts';
import type { KubeClient } from './client.ts';
import { isStatusError, kubeErrors, KubernetesStatusError } from './errors.ts';
import { EXEC_PROTOCOLS } from './exec-protocol.ts';
import { segment } from './paths.ts';

/** For callers without the rest of the client. */
export { isStatusError } from './errors.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;

/** A process to run in a container. */
export interface ExecTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  /** A terminal merges stderr into stdout. */
  readonly tty: boolean;
}

/** How to reach an API server with an upgrade. */
export interface ExecRoute {
  /** Scheme, host and an optional path prefix. */
  readonly server: URL;
  /** Options of a new connection. With `createConnection`, any duplex stream replaces the socket, such as a tunnel's. */
  connection(): Promise<RequestOptions>;
  /** Discards the credentials after a 401; the exec is then tried once more. Absent: no second attempt. */
  invalidate?(): void;
}

/** Options of an exec. */
export interface ExecOptions {
  readonly signal: AbortSignal;
  /** Time limit of the handshake; defaults to 30 seconds. */
  readonly timeoutMs?: number;
  /** Subprotocols to offer, best first; defaults to all known ones. */
  readonly protocols?: readonly string[];
}

/** Returns the route of a client's own connection and identity. */
export function execRoute({ access, transport }: Pick<KubeClient, 'access' | 'transport'>): ExecRoute {
  return {
    server: access.server,
    connection: () => transport.connection(),
    invalidate: () => access.token.invalidate(),
  };
}

/**
 * Opens the WebSocket of `pods/exec`: each message is a channel byte and data (`EXEC_CHANNELS`). The socket is paused,
 * so that no message is lost before a listener is attached; call `resume`.
 *
 * Throws a `KubernetesStatusError` if the API server refuses, `EXEC_TIMEOUT` if the handshake takes too long, the
 * signal's reason if it aborts, and otherwise the error of the connection.
 *
 * @example
 *   const socket = await openExec(execRoute(client), { namespace, pod, container, command: ['id'], stdin: false, tty: false }, { signal });
 *   socket.on('message', receive);
 *   socket.resume();
 */
export async function openExec(route: ExecRoute, target: ExecTarget, options: ExecOptions): Promise<WebSocket> {
  try {
    return await attempt(route, target, options);
  } catch (error) {
    if (route.invalidate === undefined || !isStatusError(error, 401)) throw error;
    route.invalidate(); // a projected token may have been renewed since it was read
    return attempt(route, target, options);
  }
}

async function attempt(route: ExecRoute, target: ExecTarget, options: ExecOptions): Promise<WebSocket> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, protocols = EXEC_PROTOCOLS } = options;
  signal.throwIfAborted();
  const connection = await route.connection();
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const socket = new WebSocket(execUrl(route.server, target), [...protocols], {
    // `ws` passes these on to `http.request`. Their types differ in what is never set here: header lists, and a
    // `createConnection` that returns a stream instead of a socket.
    ...(connection as ClientOptions),
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  try {
    await handshake(socket, AbortSignal.any([signal, timeout]));
    return socket;
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw kubeErrors.EXEC_TIMEOUT({ details: { timeout_ms: timeoutMs }, cause: error });
    throw error;
  }
}

function handshake(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate(); // `error` follows
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    socket.on('error', fail); // stays: `close` follows an error of the open connection
    socket.once('upgrade', ({ socket: carrier }) => {
      if (carrier instanceof Socket) carrier.setKeepAlive(true, KEEP_ALIVE_MS);
    });
    socket.once('open', () => {
      signal.removeEventListener('abort', abort);
      socket.pause();
      resolve();
    });
    socket.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0;
      const message = `the API server answered ${status} instead of upgrading`;
      assertAccepted(response, MAX_REFUSAL_BYTES)
        .then(() => fail(new KubernetesStatusError({ status: 502, reason: '', message })), fail)
        .finally(() => response.destroy());
    });
  });
}

function execUrl(server: URL, { namespace, pod, container, command, stdin, tty }: ExecTarget): URL {
  const url = new URL(server);
  url.protocol = server.protocol === 'https:' ? 'wss:' : 'ws:';
  const prefix = server.pathname.replace(/\/$/, '');
  url.pathname = `${prefix}/api/v1/namespaces/${segment(namespace)}/pods/${segment(pod)}/exec`;
  url.searchParams.set('container', container);
  for (const word of command) url.searchParams.append('command', word);
  url.searchParams.set('stdin', String(stdin));
  url.searchParams.set('stdout', 'true');
  url.searchParams.set('stderr', String(!tty));
  url.searchParams.set('tty', String(tty));
  return url;
}
