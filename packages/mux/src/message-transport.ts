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
/** Few are larger, none by more than one chunk: a `maxPayload` of 1 MiB on the other side is enough. */
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

/** One message for what one turn sends: the copy is cheaper than a header and a callback for each chunk. */
function messagesOf(chunks: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = [];
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < MESSAGE_BYTES) continue;
    messages.push(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  }
  if (waiting.length > 0) messages.push(Buffer.concat(waiting));
  return messages;
}

/** `ws` gives a buffer by default; an array buffer or fragments where its owner chose so. */
function asBuffer(data: unknown): Buffer | null {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  if (Array.isArray(data) && data.every((part) => Buffer.isBuffer(part))) return Buffer.concat(data);
  return null;
}
