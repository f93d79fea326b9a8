import type { MuxTransport } from './transport.ts';

/** As much of a WebSocket of the package `ws` as is needed. */
export interface MessageSocket {
  send(data: Buffer, options: { binary: true; compress: false }, done: (error?: Error | null) => void): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** What may wait in the socket before the session is asked to hold back. */
const HIGH_WATER_BYTES = 256 * 1024;
const LARGE_BYTES = 8 * 1024;
/** Few messages are larger, none by more than one chunk: a `maxPayload` of 1 MiB on the other side is enough. */
const MESSAGE_BYTES = 256 * 1024;
const NORMAL_CLOSURE = 1000;

/** A session on the binary messages of a WebSocket, for where a proxy lets nothing else through. */
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
    write: (chunks) => {
      if (isOver) return false;
      for (const message of messagesOf(chunks)) {
        waitingBytes += message.length;
        socket.send(message, { binary: true, compress: false }, () => {
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

/**
 * Small chunks go together in one message, large ones each in a message of its own: a message costs less than the copy
 * that would join them.
 */
function messagesOf(chunks: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = [];
  let small: Buffer[] = [];
  let smallBytes = 0;
  const flush = (): void => {
    const [only] = small;
    if (only !== undefined) messages.push(small.length === 1 ? only : Buffer.concat(small, smallBytes));
    small = [];
    smallBytes = 0;
  };
  for (const chunk of chunks) {
    if (chunk.length < LARGE_BYTES) {
      small.push(chunk);
      smallBytes += chunk.length;
      if (smallBytes >= MESSAGE_BYTES) flush();
    } else {
      flush();
      messages.push(chunk);
    }
  }
  flush();
  return messages;
}

/** `ws` gives a buffer by default; an array buffer or fragments where its owner chose so. */
function asBuffer(data: unknown): Buffer | null {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  if (Array.isArray(data) && data.every((part) => Buffer.isBuffer(part))) return Buffer.concat(data);
  return null;
}
