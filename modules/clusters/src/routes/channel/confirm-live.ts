import type { Clock } from '@svc/runtime';
import type { RawData, WebSocket } from 'ws';

/**
 * Waits until the peer has answered a ping or sent a frame. A process that was paused accepts handshakes whose sender
 * left long ago; only a live peer may replace the connection that it has at another replica.
 *
 * Returns null for a peer that is gone. Otherwise the socket is paused, and the returned function hands over: call it
 * once the next owner listens, to give it the frames that arrived meanwhile.
 */
export async function confirmLive(
  socket: WebSocket,
  clock: Pick<Clock, 'setTimer'>,
  timeoutMs: number,
): Promise<(() => void) | null> {
  // Bounded: the pause leaves at most what one read from the socket contained.
  const early: { data: RawData; isBinary: boolean }[] = [];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answered = (): void => {
    socket.pause();
    resolve(true);
  };
  const onMessage = (data: RawData, isBinary: boolean): void => {
    early.push({ data, isBinary });
    answered();
  };
  const gone = (): void => resolve(false);
  const cancelTimer = clock.setTimer(gone, timeoutMs);
  socket.on('message', onMessage).on('pong', answered).on('close', gone);
  socket.on('error', () => undefined); // `close` follows
  socket.ping();
  const isLive = await promise;
  cancelTimer();
  socket.off('pong', answered).off('close', gone);
  if (!isLive) {
    socket.terminate();
    return null;
  }
  return () => {
    socket.off('message', onMessage);
    for (const { data, isBinary } of early) socket.emit('message', data, isBinary);
    socket.resume();
  };
}
