import { connect, type Socket } from 'node:net';
import type { RawRequest } from './raw-request.ts';

/** Bytes of a request as they go onto the wire, without its body. */
export function headOf(request: RawRequest): Buffer {
  const lines = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${request.method ?? 'GET'} ${request.target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

export interface RawConnection {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  /** Resolves when the other side has ended the connection. */
  closed(): Promise<string>;
}

/** A connection that is half-open after `end()`, as no HTTP client of Node leaves one. */
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
