import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { lendReads } from '@svc/bytes';
import type { MuxTransport } from './transport.ts';

/** Creates a transport on a socket. `head` contains bytes already read from it, such as those of an HTTP upgrade. */
export function duplexTransport(duplex: Duplex, head?: Buffer): MuxTransport {
  return {
    start: (events) => {
      if (duplex instanceof Socket) {
        duplex.setNoDelay(true);
        duplex.setTimeout(0); // the session has its own liveness check
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
      const passOn = (chunk: Buffer): boolean => {
        events.data(chunk);
        return true; // stream windows throttle the peer
      };
      const isLent = duplex instanceof Socket && lendReads(duplex, passOn);
      if (!isLent) duplex.on('data', passOn);
      if (duplex.destroyed || duplex.readableEnded) queueMicrotask(over);
    },
    write: (bytes, done) => {
      if (!duplex.writable) return false;
      // Any other Duplex may pass the memory itself on to its reader.
      return duplex instanceof Socket ? duplex.write(bytes, done) : duplex.write(bytes);
    },
    end: () => void duplex.end(),
    destroy: () => void duplex.destroy(),
  };
}
