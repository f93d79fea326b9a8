import type { SelectedPart } from './select.ts';

/** With four, two processors have no idle time left, and tests exceed their time limits. */
const LANES = 3;

/**
 * Runs parts in order; consecutive ones that share the machine run three at a time. Starts no further part after an abort.
 * Returns the results in the order of the parts.
 */
export async function runInLanes<Result>(
  parts: readonly SelectedPart[],
  signal: AbortSignal,
  run: (selected: SelectedPart) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const group of groupShared(parts)) {
    const waiting = group.entries();
    const first = results.length;
    const work = async (): Promise<void> => {
      for (const [index, selected] of waiting) {
        if (signal.aborted) return;
        results[first + index] = await run(selected);
      }
    };
    await Promise.all(Array.from({ length: LANES }, work));
  }
  return results.filter((result) => result !== undefined);
}

/** Splits the parts into runs of consecutive shared ones, and single others. */
function groupShared(parts: readonly SelectedPart[]): SelectedPart[][] {
  const groups: SelectedPart[][] = [];
  let isShared = false;
  for (const selected of parts) {
    const shares = selected.part.sharesMachine === true;
    if (shares && isShared) groups.at(-1)?.push(selected);
    else groups.push([selected]);
    isShared = shares;
  }
  return groups;
}
