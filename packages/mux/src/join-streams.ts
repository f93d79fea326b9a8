import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BlockWriter, isLending, lendReads, type LendingStream } from '@svc/bytes';
import type { MuxStream } from './stream.ts';

/**
 * Relays bytes in both directions with backpressure until both have ended. The end of one direction ends only that
 * direction; an error on either side ends both and calls `onFault`, which may reset the other in its own way.
 */
export function joinStreams(
  left: Duplex,
  right: Duplex,
  onFault: (from: Duplex, to: Duplex, error: Error | null) => void = (_from, to) => to.destroy(),
): Promise<void> {
  return new Promise((resolve) => {
    let closed = 0;
    const watch = (from: Duplex, to: Duplex): void => {
      let failure: Error | null = null;
      from.on('error', (error: Error) => (failure = error));
      if (from.readableEnded) to.end();
      else if (isLending(from)) passLent(from, to);
      else if (!passReads(from, to)) from.pipe(to);
      from.once('close', () => {
        closed += 1;
        const isComplete = from.readableEnded && from.writableFinished;
        if (!to.destroyed && (failure !== null || !isComplete)) onFault(from, to, failure);
        if (closed === 2) resolve();
      });
      if (from.destroyed) to.destroy();
    };
    watch(left, right);
    watch(right, left);
  });
}

/** `pipe` for borrowed bytes: copied into reusable blocks, or by the other stream in its own way. */
function passLent(from: LendingStream, to: Duplex): void {
  if (isMux(to)) {
    to.on('drain', () => from.lendMore());
    from.once('end', () => to.end());
    return from.lend((bytes) => to.writeCopy(bytes));
  }
  const writer = new BlockWriter(to, from.memory, () => from.lendMore());
  from.once('end', () => writer.flush(() => to.end()));
  from.lend((bytes) => writer.write(bytes));
}

/** `pipe` from a socket whose reads can be lent. Returns false, without any effect, for any other. */
function passReads(from: Duplex, to: Duplex): boolean {
  if (!(from instanceof Socket) || !isMux(to)) return false;
  if (!lendReads(from, (bytes) => to.writeCopy(bytes))) return false;
  to.on('drain', () => from.resume());
  from.once('end', () => to.end());
  return true;
}

function isMux(stream: Duplex): stream is MuxStream {
  return 'writeCopy' in stream;
}
