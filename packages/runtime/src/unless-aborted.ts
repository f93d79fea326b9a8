/** Returns the result of the work, or throws the error if the signal aborts first; the work continues. */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  error: () => Error,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(error());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
