import type { MuxTransport } from './transport.ts';

/** The used subset of a WebSocket of the package `ws`. */
export interface MessageSocket {
  send(data: Buffer, options: { binary: true; compress: false }, done: (error?: Error | null) => void): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Bytes that may queue in the socket before the session is asked to pause. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Stays within a `maxPayload` of 1 MiB on the other side. */
const MESSAGE_BYTES = 256 * 1024;
const NORMAL_CLOSURE = 1000;

/** Creates a transport on the binary messages of a WebSocket, for proxies that allow nothing else. */
export function messageTransport(socket: MessageSocket): MuxTransport {
  let waitingBytes = 0;
  let isOver = false;
  let drained = (): void => undefined;
  return {
    start: (events) => {
      let failure: Error | null = null;
      const over = (error: Error | null): void => {
        if (isOver) return;
        isOver = true;
        events.end(error);
      };
      socket.on('error', (error) => (failure = error));
      socket.on('close', (code) => {
        over(failure ?? (code === NORMAL_CLOSURE ? null : new Error(`the WebSocket was closed with ${code}`)));
      });
      socket.on('message', (data, isBinary) => {
        const chunk = isBinary ? asBuffer(data) : null;
        if (chunk !== null) {
          if (!isOver) events.data(chunk);
          return;
        }
        over(new Error('a message is not binary'));
        socket.terminate();
      });
      drained = () => {
        if (!isOver) events.drain();
      };
    },
    write: (bytes, done) => {
      if (isOver) return false;
      for (let offset = 0; offset < bytes.length; offset += MESSAGE_BYTES) {
        const message = bytes.subarray(offset, offset + MESSAGE_BYTES);
        waitingBytes += message.length;
        socket.send(message, { binary: true, compress: false }, () => {
          if (offset + MESSAGE_BYTES >= bytes.length) done();
          const wasFull = waitingBytes >= HIGH_WATER_BYTES;
          waitingBytes -= message.length;
          if (wasFull && waitingBytes < HIGH_WATER_BYTES) drained();
        });
      }
      return waitingBytes < HIGH_WATER_BYTES;
    },
    end: () => socket.close(NORMAL_CLOSURE),
    destroy: () => socket.terminate(),
  };
}

/** `ws` passes a buffer by default; an array buffer or fragments if so configured. */
function asBuffer(data: unknown): Buffer | null {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  if (Array.isArray(data) && data.every((part) => Buffer.isBuffer(part))) return Buffer.concat(data);
  return null;
}
