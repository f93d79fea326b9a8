import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type Settings } from 'node:http2';
import { text } from 'node:stream/consumers';
import { selfSignedCertificate, waitFor } from '@svc/testing';
import { createListener, type Listener, type ListenerOptions } from '../../listener.ts';

const opened: Listener[] = [];
const clients: ClientHttp2Session[] = [];

/** Ends everything that the test opened. */
export async function endAll(): Promise<void> {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
}

type Handler = ListenerOptions['handler'];

/** Opens a listener with TLS and HTTP/2. */
export async function start(options: Partial<ListenerOptions> = {}): Promise<{ listener: Listener; port: number }> {
  const handler: Handler = (_request, response) => void response.end('ok');
  const listener = createListener({ handler, http2: true, tls: await selfSignedCertificate(), ...options });
  opened.push(listener);
  return { listener, port: await listener.listen(0, '127.0.0.1') };
}

/** Connects, and waits for the settings of the listener. All addresses of 127.0.0.0/8 are of this machine. */
export async function dial(
  port: number,
  options: { localAddress?: string; settings?: Settings } = {},
): Promise<ClientHttp2Session> {
  const own = { rejectUnauthorized: false, host: '127.0.0.1' };
  const client = connect(`https://localhost:${port}`, { ...own, ...options });
  client.on('error', () => undefined); // several tests cut the connection
  clients.push(client);
  await once(client, 'remoteSettings');
  return client;
}

/** A whole response. */
export interface Answer {
  headers: Record<string, unknown>;
  body: string;
  trailers: Record<string, unknown>;
}

/** Rejects if the stream is reset. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let trailers = {};
  stream.on('trailers', (given: object) => (trailers = given));
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  return { headers, body: await text(stream), trailers };
}

/** Sends a GET, and reads its answer. */
export async function get(client: ClientHttp2Session, path = '/', headers = {}): Promise<Answer> {
  return answerOf(client.request({ ':path': path, ...headers }));
}

/** Resolves to the code of RST_STREAM. */
export async function resetOf(stream: ClientHttp2Stream): Promise<number> {
  stream.on('error', () => undefined).resume();
  await new Promise((resolve) => void stream.once('close', resolve));
  return stream.rstCode;
}

/** A handler that holds its exchanges until the test handles them. */
export function held(): { handler: Handler; next(): Promise<{ request: IncomingMessage; response: ServerResponse }> } {
  const waiting: { request: IncomingMessage; response: ServerResponse }[] = [];
  return {
    handler: (request, response) => void waiting.push({ request, response }),
    next: () => waitFor(() => waiting.shift()),
  };
}

/** Checks that a connection still serves requests. */
export async function getOther(client: ClientHttp2Session, requests: ReturnType<typeof held>): Promise<Answer> {
  const stream = client.request({ ':path': '/other' });
  (await requests.next()).response.end('other');
  return answerOf(stream);
}
