import type { Part, TestFilter } from './part.ts';

export interface SelectedPart {
  readonly part: Part;
  readonly filter: TestFilter;
}

export interface Selection {
  readonly parts: readonly SelectedPart[];
  /** Patterns that match no part and no file; they are matched against test names. */
  readonly testNames: readonly string[];
}

/**
 * Selects what to run. Without patterns: every part, those of group `all` only on demand. A pattern is the name of a
 * part, text in the path of test files, or text in the names of tests, in that order.
 */
export function selectParts(parts: readonly Part[], patterns: readonly string[], all: boolean): Selection {
  const present = parts.filter((part) => part.files === undefined || part.files().length > 0);
  if (patterns.length === 0) {
    const chosen = present.filter((part) => all || part.group === 'default');
    return { parts: chosen.map((part) => ({ part, filter: {} })), testNames: [] };
  }
  const byName = new Set(patterns.filter((pattern) => present.some((part) => part.name === pattern)));
  const others = patterns.filter((pattern) => !byName.has(pattern));
  const matches = (file: string): boolean => others.some((pattern) => file.includes(normalized(pattern)));
  const selected: SelectedPart[] = [];
  for (const part of present) {
    if (byName.has(part.name)) selected.push({ part, filter: {} });
    else if (part.files !== undefined && part.name !== 'postgres') {
      const files = part.files().filter(matches);
      if (files.length > 0) selected.push({ part, filter: { files } });
    }
  }
  const testNames = others.filter((pattern) => !anyFile(present, normalized(pattern)));
  const named = testNames.length === 0 ? [] : byTestName(present, selected, testNames);
  return { parts: [...selected, ...named], testNames };
}

function byTestName(
  present: readonly Part[],
  selected: readonly SelectedPart[],
  names: readonly string[],
): SelectedPart[] {
  const testName = names.join(' ');
  return present
    .filter((part) => part.files !== undefined && part.group === 'default')
    .filter((part) => !selected.some((each) => each.part === part))
    .map((part) => ({ part, filter: { testName } }));
}

function anyFile(parts: readonly Part[], pattern: string): boolean {
  return parts.some((part) => part.files?.().some((file) => file.includes(pattern)) ?? false);
}

/** Normalizes `./modules/accounts/`, as completed by a shell. */
function normalized(pattern: string): string {
  return pattern.replace(/^\.\//, '').replace(/\/$/, '');
}
