import { readFile, writeFile } from 'node:fs/promises';
import type { Outcome } from './outcome.ts';

/** The tests of a suite that do not pass: reason -> names. Stored next to the suite, edited manually. */
export type KnownFailures = ReadonlyMap<string, readonly string[]>;

/** Compares a run with the list. Both lists are empty if they agree. */
export interface Comparison {
  /** Failed or skipped tests that are not in the list, with the suite's message. */
  readonly unknown: readonly Outcome[];
  /** Tests in the list that passed or no longer exist. */
  readonly stale: readonly string[];
}

const NOT_LOOKED_AT = 'Not looked at yet: ';

/** One reason per line, with the tests' names indented below. */
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

/** Removes tests that now pass and adds failures with the suite's own message, for review. */
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

/** The most frequent reason first. */
export function byCount(
  [leftReason, left]: readonly [string, readonly string[]],
  [rightReason, right]: readonly [string, readonly string[]],
): number {
  return right.length - left.length || (leftReason < rightReason ? -1 : 1);
}
