import { SvcError } from '../errors.ts';

/** Input beyond this waits here; a WebSocket itself would take it all into memory. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = 5;

/** Resolves once less than the bound waits in the socket: WebSockets do not tell when they have sent. */
export async function untilSent(bufferedBytes: () => number, isClosed: () => boolean): Promise<void> {
  while (bufferedBytes() > MAX_BUFFERED_BYTES) {
    if (isClosed()) throw new SvcError('The terminal is closed');
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
