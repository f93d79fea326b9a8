import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { typeScriptSources } from './typescript-source.ts';

const MICRO_FILE_LINES = 40;
/**
 * Number of small files whose only importer is in the same folder. Merge one before adding one: the number only
 * decreases.
 */
const MICRO_FILES_ALLOWED = 62;
/** Lists of declarations, each in a file of its own however small: adding one is one file and one line. */
const REGISTRIES: ReadonlySet<string> = new Set([
  'apps/cli/src/commands/all-commands.ts',
  'modules/object-store/src/s3/operations/index.ts',
]);

const sources = typeScriptSources();
const paths = new Set(sources.map((source) => source.path));
/** Files that each file imports, types included. */
const importsOf = new Map(
  sources.map(({ path, imports }) => {
    const targets = imports
      .filter((each) => each.specifier.startsWith('.'))
      .map((each) => posix.join(posix.dirname(path), each.specifier));
    return [path, targets.filter((target) => paths.has(target))] as const;
  }),
);

/** The first circle reachable from a file, or null. Marks files without one as `clear`. */
function circleFrom(path: string, clear: Set<string>, open: readonly string[] = []): readonly string[] | null {
  if (clear.has(path)) return null;
  const start = open.indexOf(path);
  if (start !== -1) return [...open.slice(start), path];
  for (const target of importsOf.get(path) ?? []) {
    const circle = circleFrom(target, clear, [...open, path]);
    if (circle !== null) return circle;
  }
  clear.add(path);
  return null;
}

describe('the file graph', () => {
  it('has no cycle, including type-only imports', () => {
    const clear = new Set<string>();
    const circles = [...paths].map((path) => circleFrom(path, clear)).filter((circle) => circle !== null);
    expect(circles.map((circle) => circle.join(' -> '))).toEqual([]);
  });

  it(`has at most ${MICRO_FILES_ALLOWED} files of ${MICRO_FILE_LINES} lines whose only importer is in the same folder`, () => {
    const importers = new Map<string, string[]>();
    for (const [path, targets] of importsOf) {
      if (isTest(path)) continue;
      for (const target of new Set(targets)) importers.set(target, [...(importers.get(target) ?? []), path]);
    }
    const micro = sources.filter(({ path, text }) => {
      if (isTest(path) || !/^(packages|modules|apps|sdks)\/[^/]+\/src\//.test(path)) return false;
      const [only, ...others] = importers.get(path) ?? [];
      if (only === undefined || others.length > 0 || posix.dirname(only) !== posix.dirname(path)) return false;
      if (REGISTRIES.has(only)) return false;
      return text.trimEnd().split('\n').length < MICRO_FILE_LINES;
    });
    expect(micro.length, micro.map(({ path }) => path).join('\n')).toBeLessThanOrEqual(MICRO_FILES_ALLOWED);
  });
});
