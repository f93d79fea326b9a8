import type { Duplex } from 'node:stream';

/**
 * Passes the bytes of each to the other with backpressure until both directions have ended. An end of one direction is
 * an end there only; a fault of either is the end of both, and is told to `onFault`, which may reset the other in its
 * own way.
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
      from.pipe(to);
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
