import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './outcome.ts';
import { VERSITYGW_VERSION } from './program.ts';
import type { SuiteRun } from './run.ts';

const EXPECTED = new URL('expected-passes.txt', import.meta.url);
const TABLE = fileURLToPath(new URL('../../../docs/conformance-versitygw.md', import.meta.url));

/** Names of the tests that must pass, one a line. */
export async function readExpectedPasses(): Promise<string[]> {
  return (await readFile(EXPECTED, 'utf8')).split('\n').filter((line) => line !== '');
}

/** Adds what passes now; nothing is ever taken away. Answers how many were added. */
export async function addExpectedPasses(outcomes: readonly Outcome[]): Promise<number> {
  const before = new Set(await readExpectedPasses());
  const passed = outcomes.filter((each) => each.status === 'passed').map((each) => each.name);
  const all = new Set([...before, ...passed]);
  await writeFile(EXPECTED, `${[...all].toSorted().join('\n')}\n`);
  return all.size - before.size;
}

/** Writes the table of the documentation: the numbers, then each test that does not pass under its reason. */
export async function writeTable(run: SuiteRun): Promise<void> {
  const count = (status: Outcome['status']): number => run.outcomes.filter((each) => each.status === status).length;
  const byReason = new Map<string, string[]>();
  for (const { status, name, reason } of run.outcomes) {
    if (status !== 'passed') byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  }
  const rows = [...byReason].toSorted(
    ([left, leftNames], [right, rightNames]) => rightNames.length - leftNames.length || (left < right ? -1 : 1),
  );
  const lines = [
    "# Conformance: VersityGW's client-side suite",
    '',
    `Written by \`node test/conformance/versitygw/main.ts\` from a run of version ${VERSITYGW_VERSION} against \`svc up\`; not by hand.`,
    '',
    '| tests | passed | failed | skipped by the suite | not run: IAM service, web sites |',
    '| ---: | ---: | ---: | ---: | ---: |',
    `| ${run.outcomes.length} | ${count('passed')} | ${count('failed')} | ${count('skipped')} | ${run.foreignCount} |`,
    '',
    '| why it does not pass | count | tests |',
    '| --- | ---: | --- |',
    ...rows.map(([reason, names]) => `| ${escapeCell(reason)} | ${names.length} | ${names.join(', ')} |`),
    '',
  ];
  await writeFile(TABLE, lines.join('\n'));
}

function escapeCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;');
}
