import { NetworkError } from './errors.ts';
import type { SocketLike, SocketRequest } from './open-socket.ts';
import type { QueryValue, Transport } from './transport.ts';

/** A WebSocket to open: absolute path, query and offered subprotocols. `signal` aborts only the opening. */
export interface ConnectRequest {
  path: string;
  query: Readonly<Record<string, QueryValue>>;
  protocols: readonly string[];
  signal?: AbortSignal | undefined;
}

/** Receives the messages of an open WebSocket: text frames as strings, binary frames as bytes. */
export interface SocketListener {
  message(data: string | Uint8Array): void;
  /** Called after the last message; never for a socket that did not open. */
  close(code: number, reason: string): void;
}

/** Resolves when the socket is open. Rejects with NetworkError; WebSockets don't expose why an upgrade was refused. */
export function connectSocket(
  transport: Transport,
  request: ConnectRequest,
  listener: SocketListener,
): Promise<SocketLike> {
  const { signal } = request;
  signal?.throwIfAborted();
  const open = transport.openSocket ?? openGlobalSocket;
  const socket = open(socketRequest(transport, request, transport.openSocket !== undefined || isNode()));
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const abort = (): void => {
      reject(signal?.reason instanceof Error ? signal.reason : new Error('The connection was aborted'));
      socket.close();
    };
    signal?.addEventListener('abort', abort, { once: true });
    socket.addEventListener('open', () => {
      isOpen = true;
      signal?.removeEventListener('abort', abort);
      resolve(socket);
    });
    socket.addEventListener('message', ({ data }) => listener.message(toMessage(data)));
    socket.addEventListener('error', () => undefined); // `close` follows, with details
    socket.addEventListener('close', ({ code = 1006, reason = '' }) => {
      signal?.removeEventListener('abort', abort);
      if (isOpen) listener.close(code, reason);
      else reject(new NetworkError('The WebSocket could not be opened'));
    });
  });
}

function socketRequest(
  transport: Transport,
  { path, query, protocols }: ConnectRequest,
  withHeaders: boolean,
): SocketRequest {
  const { credential } = transport;
  const { url } = transport.prepare({ method: 'GET', path, query });
  const headers: Record<string, string> = {};
  const offered = [...protocols];
  if (credential.kind === 'token') {
    if (withHeaders) headers['authorization'] = `Bearer ${credential.token}`;
    else offered.push(`bearer.${toBase64Url(credential.token)}`);
  }
  return { url: url.replace(/^http/, 'ws'), protocols: offered, headers };
}

/** The WebSocket of Node.js accepts headers; that of browsers accepts only protocols. */
function openGlobalSocket({ url, protocols, headers }: SocketRequest): SocketLike {
  // Looked up dynamically: browser and Node.js types differ in the second argument, and this package supports both.
  const { WebSocket: Socket } = globalThis as { WebSocket?: new (url: string, options: unknown) => SocketLike };
  if (Socket === undefined) throw new NetworkError('No global WebSocket found; pass openSocket');
  return new Socket(url, isNode() ? { protocols, headers } : protocols);
}

/** Whether this runs in Node.js, or in a runtime that reports a Node.js version, rather than in a browser. */
export function isNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } }; // absent in browsers
  return typeof process?.versions?.node === 'string';
}

function toMessage(data: unknown): string | Uint8Array {
  if (typeof data === 'string') return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (data instanceof Uint8Array) return data;
  return new Uint8Array();
}

/** Encodes the text's UTF-8 without padding (RFC 4648, section 5). */
export function toBase64Url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/(?<!=)=+$/, '');
}
