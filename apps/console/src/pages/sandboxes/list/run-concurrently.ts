export interface ConcurrentResult {
  done: number;
  /** The first error; the others are usually the same. */
  error: unknown;
  failed: number;
}

const MAX_CONCURRENT = 4;

/** Applies an action to several items, a few at a time; failures don't stop the others. */
export async function runConcurrently<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<ConcurrentResult> {
  const result: ConcurrentResult = { done: 0, error: null, failed: 0 };
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await act(item);
        result.done += 1;
      } catch (error) {
        result.error ??= error;
        result.failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return result;
}
