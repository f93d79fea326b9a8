import type { Clock } from '@svc/runtime';

/** Repeats `idle` whenever the source yields nothing for this time. Ends with the source, or when the signal aborts. */
export async function* withKeepalive<Value>(
  source: AsyncGenerator<Value, void>,
  idle: Value,
  everyMs: number,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Value, void> {
  const aborted = Promise.withResolvers<'aborted'>();
  const abort = (): void => aborted.resolve('aborted');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  let next = source.next();
  try {
    for (;;) {
      const pause = Promise.withResolvers<'idle'>();
      const cancel = clock.setTimer(() => pause.resolve('idle'), everyMs);
      const first = await Promise.race([next, pause.promise, aborted.promise]);
      cancel();
      if (first === 'aborted') return;
      if (first === 'idle') {
        yield idle;
        continue;
      }
      if (first.done === true) return;
      yield first.value;
      next = source.next();
    }
  } finally {
    signal.removeEventListener('abort', abort);
    next.catch(() => undefined); // an error after the end has no reader
  }
}
