import type { IncomingMessage } from 'node:http';
import { freeAfter } from '@svc/bytes';
import type { ContentConsumer } from '../../domain/content/content-source.ts';
import { storeErrors } from '../../errors.ts';

/**
 * Reads a request's body to its end. Rejects with `IncompleteBody` if the connection closes early, and with the
 * consumer's error. After a rejection the request stays paused, and the responder decides what to do with the rest.
 */
export function pumpBody(incoming: IncomingMessage, consume: ContentConsumer): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending: Promise<unknown> | undefined;
    const settle = (error?: unknown): void => {
      incoming.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      incoming.pause();
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : storeErrors.InternalError({ cause: error }));
    };
    const onData = (chunk: Buffer): void => {
      try {
        pending = consume(chunk, freeAfter(chunk, 1));
      } catch (error) {
        settle(error);
        return;
      }
      if (pending === undefined) return;
      incoming.pause();
      pending.then(() => incoming.resume(), settle);
    };
    const onEnd = (): void => void (pending ?? Promise.resolve()).then(() => settle(), settle);
    const onClose = (): void => {
      if (!incoming.complete) settle(storeErrors.IncompleteBody());
    };
    const onError = (cause: Error): void => settle(storeErrors.IncompleteBody({ cause }));
    if (incoming.destroyed && !incoming.complete) {
      reject(storeErrors.IncompleteBody());
      return;
    }
    if (incoming.readableEnded) {
      resolve();
      return;
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    incoming.resume();
  });
}
