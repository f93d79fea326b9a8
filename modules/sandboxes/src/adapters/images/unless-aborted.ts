/** The result of the work, or the error when the signal comes first; the work goes on then. */
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
