import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';

import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { failUnanswered } from '@svc/runtime';
import type { ClusterAccess } from './access.ts';
import { kubeErrors } from './errors.ts';

/** A request to the API server. */
export interface KubeRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, encoded path below the server's prefix. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
  /** Time limit for the response head; reading the body has its own. 0 = no limit. */
  timeoutMs?: number;
}

/** Called after each response head, for metrics. Receives no object paths, which would be unbounded labels. */
export type RequestObserver = (method: string, status: number, durationSeconds: number) => void;

/** Sends requests to one API server. */
export interface Transport {
  /** Returns any response, including refusals. The caller reads or destroys the body. */
  send(request: KubeRequest): Promise<IncomingMessage>;
  /** Options of the same connection, for upgrades (exec, port-forward). */
  connection(): Promise<RequestOptions>;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Creates the transport for one API server. */
export function createTransport(access: ClusterAccess, observe: RequestObserver = () => undefined): Transport {
  const secure = access.server.protocol === 'https:';
  const sockets = { keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 4, timeout: 0 };
  const tls = tlsOptions(access);
  const { connections } = access;
  const own = secure ? new HttpsAgent({ ...sockets, ...tls }) : new HttpAgent(sockets);
  const agent = connections?.agent ?? own;
  const prefix = access.server.pathname.replace(/\/$/, '');

  const connection = async (): Promise<RequestOptions> => {
    const token = await access.token.current();
    return {
      protocol: access.server.protocol,
      hostname: access.server.hostname.replace(/^\[|\]$/g, ''),
      port: access.server.port === '' ? (secure ? 443 : 80) : access.server.port,
      headers: { 'user-agent': 'svc-agent', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      ...tls,
      ...(connections === undefined ? {} : { createConnection: () => connections.connect() }),
    };
  };

  const attempt = async (request: KubeRequest): Promise<IncomingMessage> => {
    // The agent makes the connections of plain requests.
    const { createConnection: _upgradesOnly, ...options } = await connection();
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const startedMs = performance.now();
    const response = await exchange(secure ? httpsRequest : httpRequest, request, body, {
      ...options,
      agent,
      method: request.method,
      path: `${prefix}${request.path}${queryText(request.query)}`,
      headers: {
        accept: 'application/json',
        // `connection()` returns OutgoingHttpHeaders, which are all strings here.
        ...(options.headers as Record<string, string>),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
        ...request.headers,
      },
    });
    observe(request.method, response.statusCode ?? 0, (performance.now() - startedMs) / 1000);
    return response;
  };

  return {
    connection,
    close: () => own.destroy(),
    send: async (request) => {
      const response = await attempt(request);
      if (response.statusCode !== 401) return response;
      response.destroy();
      access.token.invalidate(); // a projected token may have been renewed since it was read
      return attempt(request);
    },
  };
}

function tlsOptions(access: ClusterAccess): Record<string, unknown> {
  return {
    rejectUnauthorized: !access.insecureSkipVerify,
    minVersion: 'TLSv1.2',
    ...(access.authority === undefined ? {} : { ca: access.authority }),
    ...(access.clientCertificate === undefined ? {} : { cert: access.clientCertificate }),
    ...(access.clientKey === undefined ? {} : { key: access.clientKey }),
    ...(access.serverName === undefined ? {} : { servername: access.serverName }),
  };
}

function exchange(
  send: typeof httpsRequest,
  request: KubeRequest,
  body: Buffer | undefined,
  options: RequestOptions,
): Promise<IncomingMessage> {
  const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    if (request.signal?.aborted === true) {
      reject(abortReason(request.signal));
      return;
    }
    const outgoing = send({ ...options, ...(request.signal === undefined ? {} : { signal: request.signal }) });
    failUnanswered(outgoing);
    const onTimeout = (): void => void outgoing.destroy(new Error(`no answer in ${timeoutMs} ms`));
    const timer = timeoutMs === 0 ? undefined : setTimeout(onTimeout, timeoutMs);
    outgoing.once('response', (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    outgoing.once('error', (cause) => {
      clearTimeout(timer);
      if (request.signal?.aborted === true) reject(abortReason(request.signal));
      else reject(kubeErrors.KUBERNETES_UNREACHABLE({ details: { reason: cause.message }, cause }));
    });
    outgoing.once('socket', (socket) => {
      if (!(socket instanceof Socket)) return; // a carrier detects dead connections itself
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 15_000); // the kernel detects a half-open connection within half a minute
    });
    outgoing.end(body);
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError');
}

function queryText(query: KubeRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
