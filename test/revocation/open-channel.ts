import { once, type EventEmitter } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** A channel that is open and has delivered something. */
export interface Open {
  /** Resolves when nothing can be delivered any more. */
  readonly ended: Promise<unknown>;
  /** What is known about a channel that does not end. */
  state?(): string;
  /** Fails if the channel was used after its end, such as an upload that was stored. */
  verify?(): Promise<void>;
  /** A slow reader takes what is left: everything that was still sent has arrived in its buffers. */
  hurry?(): void;
  close(): void;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with the head; the request then ends, unless `isUnfinished`. */
  readonly body?: string | Buffer;
  /** The body never ends. */
  readonly isUnfinished?: boolean;
}

/** Unlike `once`, this does not reject: a cut is what the tests wait for. */
export function closed(channel: EventEmitter): Promise<void> {
  return new Promise((resolve) => channel.once('close', () => resolve()));
}

/** A reader this slow cannot have read a large body before its right is checked again. */
const SLOW = { pieceBytes: 4 * 1024, everyMs: 40 };

function send(url: string, { method = 'GET', headers = {}, body, isUnfinished = false }: Asked): ClientRequest {
  const { hostname, port, pathname, search } = new URL(url);
  const address = { host: hostname.endsWith('localhost') ? '127.0.0.1' : hostname, port };
  const named = { host: `${hostname}:${port}`, ...headers };
  const outgoing = httpRequest({ ...address, method, path: pathname + search, agent: false, headers: named });
  outgoing.on('error', () => undefined); // the cut is expected
  if (body !== undefined) outgoing.write(body);
  if (!isUnfinished) outgoing.end();
  return outgoing;
}

async function answerOf(outgoing: ClientRequest, url: string): Promise<IncomingMessage> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
  response.on('error', () => undefined);
  if (response.statusCode === 200 || response.statusCode === 206) return response;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer); // without an encoding
  throw new Error(`${url}: ${response.statusCode} ${Buffer.concat(chunks).toString()}`);
}

/** A response that goes on. Resolves with its first bytes. */
export async function openStream(url: string, asked: Asked = {}): Promise<Open> {
  const outgoing = send(url, asked);
  const response = await answerOf(outgoing, url);
  const ended = closed(response);
  await once(response, 'data');
  response.resume();
  return { ended, close: () => void outgoing.destroy() };
}

/** A large response, read slowly. It must be cut before its end. */
export async function openDownload(url: string, asked: Asked = {}): Promise<Open> {
  const outgoing = send(url, asked);
  const response = await answerOf(outgoing, url);
  const isClosed = closed(response).then(() => true);
  await once(response, 'readable');
  let isSlow = true;
  const readSlowly = async (): Promise<void> => {
    while (!(await Promise.race([isClosed, delay(SLOW.everyMs, false)]))) {
      if (isSlow) response.read(SLOW.pieceBytes);
    }
  };
  const verify = async (): Promise<void> => {
    if (response.complete) throw new Error(`${url} was read to its end`);
  };
  const hurry = (): void => {
    isSlow = false;
    response.resume();
  };
  return { ended: readSlowly(), verify, hurry, close: () => void outgoing.destroy() };
}

/** A request whose body goes on, and which has not been answered. Resolves when the platform reads the body. */
export async function openUpload(url: string, asked: Asked, stored: () => Promise<boolean>): Promise<Open> {
  const outgoing = send(url, {
    ...asked,
    headers: { expect: '100-continue', ...asked.headers },
    isUnfinished: true,
  });
  outgoing.flushHeaders();
  const answered = new Promise<number | undefined>((resolve) => {
    outgoing.once('response', (response) => resolve(response.resume().statusCode));
    outgoing.once('close', () => resolve(0));
  });
  const early = await Promise.race([once(outgoing, 'continue').then(() => null), answered]);
  if (early !== null) throw new Error(`${url}: ${early}`);
  const timer = setInterval(() => outgoing.write('more'), 500);
  outgoing.once('close', () => clearInterval(timer));
  const verify = async (): Promise<void> => {
    if (await stored()) throw new Error(`${url} was stored`);
  };
  return { ended: closed(outgoing), verify, close: () => void outgoing.destroy() };
}

/** An upgraded connection. Resolves when it has delivered something. */
export async function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<Open> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const ended = closed(socket);
  const refused = new Promise<never>((_, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      reject(new Error(`${url}: ${response.statusCode}`));
      socket.terminate();
    });
    socket.once('error', reject);
  });
  await Promise.race([once(socket, 'message'), refused]);
  socket.on('error', () => undefined);
  return { ended, close: () => socket.terminate() };
}

const WEBSOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** An upgrade whose other side need not be a WebSocket. Resolves when it has delivered something. */
export async function openUpgrade(url: string, headers: Readonly<Record<string, string>>): Promise<Open> {
  const outgoing = send(url, { headers: { ...headers, ...WEBSOCKET } });
  const refused = answerOf(outgoing, url).then(() => Promise.reject(new Error(`${url} was not upgraded`)));
  const [, socket] = (await Promise.race([once(outgoing, 'upgrade'), refused])) as [IncomingMessage, Duplex];
  refused.catch(() => undefined);
  socket.on('error', () => undefined);
  const ended = closed(socket);
  await once(socket, 'data');
  socket.resume();
  return { ended, close: () => void socket.destroy() };
}
