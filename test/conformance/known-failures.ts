import { readFile, writeFile } from 'node:fs/promises';
import type { Outcome } from './outcome.ts';

/** Which tests of a suite do not pass, and why: reason -> names. Kept beside the suite, edited by hand. */
export type KnownFailures = ReadonlyMap<string, readonly string[]>;

/** What a run says about the list. Both lists are empty when it is true. */
export interface Comparison {
  /** Failed or were skipped, but are not in the list: with what the suite said. */
  readonly unknown: readonly Outcome[];
  /** Are in the list, but passed, or are not tests of the suite any more. */
  readonly stale: readonly string[];
}

const NOT_LOOKED_AT = 'Not looked at yet: ';

/** One reason a line; below it, indented, the names of the tests. */
export async function readKnownFailures(file: URL): Promise<KnownFailures> {
  const failures = new Map<string, string[]>();
  let names: string[] | undefined;
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line.trim() === '') continue;
    if (line.startsWith(' ')) {
      if (names === undefined) throw new Error(`${file.pathname} begins with a test that has no reason`);
      names.push(line.trim());
    } else {
      names = failures.get(line) ?? [];
      failures.set(line, names);
    }
  }
  return failures;
}

export function compare(known: KnownFailures, outcomes: readonly Outcome[]): Comparison {
  const listed = new Set([...known.values()].flat());
  const failing = new Set(outcomes.filter((each) => each.status !== 'passed').map((each) => each.name));
  return {
    unknown: outcomes.filter((each) => failing.has(each.name) && !listed.has(each.name)),
    stale: [...listed].filter((name) => !failing.has(name)),
  };
}

/** Takes away what passes now and adds what fails under the suite's own words, for somebody to look at. */
export async function updateKnownFailures(file: URL, outcomes: readonly Outcome[]): Promise<KnownFailures> {
  const known = await readKnownFailures(file);
  const { unknown, stale } = compare(known, outcomes);
  const updated = new Map<string, string[]>();
  for (const [reason, names] of known) {
    updated.set(
      reason,
      names.filter((name) => !stale.includes(name)),
    );
  }
  for (const { name, reason } of unknown) {
    const key = `${NOT_LOOKED_AT}${reason}`;
    updated.set(key, [...(updated.get(key) ?? []), name]);
  }
  const sorted = [...updated].filter(([, names]) => names.length > 0).toSorted(byCount);
  const lines = sorted.flatMap(([reason, names]) => [reason, ...names.toSorted().map((name) => `  ${name}`), '']);
  await writeFile(file, lines.join('\n'));
  return new Map(sorted);
}

/** The reason of most tests first. */
export function byCount(
  [leftReason, left]: readonly [string, readonly string[]],
  [rightReason, right]: readonly [string, readonly string[]],
): number {
  return right.length - left.length || (leftReason < rightReason ? -1 : 1);
}
