import { connect, type Socket } from 'node:net';
import type { RawRequest } from './raw-request.ts';

/** Bytes of a request on the wire, without its body. */
export function renderHead(request: RawRequest): Buffer {
  const lines = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${request.method ?? 'GET'} ${request.target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  text(): string;
  /** Resolves with everything received once the other side closes the connection. */
  closed(): Promise<string>;
}

/** Opens a connection that stays half-open after `end()`, unlike those of Node's HTTP client. */
export function openConnection(port: number): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    const closed = new Promise<string>((settle) => {
      socket.once('end', () => settle(text)).once('close', () => settle(text));
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined); // a reset shows in `closed`
      resolve({ socket, text: () => text, closed: () => closed });
    });
    socket.once('error', reject);
  });
}
