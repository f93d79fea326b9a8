import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { MuxTransport } from './transport.ts';

/** A session on a socket. `head` are bytes that were read from it already, such as those of an HTTP upgrade. */
export function duplexTransport(duplex: Duplex, head?: Buffer): MuxTransport {
  return {
    start: (events) => {
      if (duplex instanceof Socket) {
        duplex.setNoDelay(true);
        duplex.setTimeout(0); // the session has its own liveness
      }
      let failure: Error | null = null;
      let isOver = false;
      const over = (): void => {
        if (isOver) return;
        isOver = true;
        events.end(failure);
      };
      duplex.on('error', (error: Error) => (failure = error));
      duplex.on('end', over);
      duplex.on('close', over);
      duplex.on('drain', () => events.drain());
      if (head !== undefined && head.length > 0) duplex.unshift(head);
      duplex.on('data', (chunk: Buffer) => events.data(chunk));
      if (duplex.destroyed || duplex.readableEnded) queueMicrotask(over);
    },
    write: (chunks) => {
      if (!duplex.writable) return false;
      // All of one turn goes out in one vectored write.
      duplex.cork();
      for (const chunk of chunks) duplex.write(chunk);
      duplex.uncork();
      return !duplex.writableNeedDrain;
    },
    end: () => void duplex.end(),
    destroy: () => void duplex.destroy(),
  };
}
