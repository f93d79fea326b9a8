import { readFile, writeFile } from 'node:fs/promises';
import { byCount, type KnownFailures } from './known-failures.ts';
import { countOf, type Outcome } from './outcome.ts';

export interface ResultPage {
  readonly title: string;
  /** Paragraphs between the title and the counts. */
  readonly introduction: readonly string[];
  readonly outcomes: readonly Outcome[];
  readonly known: KnownFailures;
  /** Additional count columns: heading and number. */
  readonly further?: readonly (readonly [string, number])[];
  /** Lines after the table. */
  readonly appendix?: readonly string[];
}

/** Renders the documentation page: the counts, then each test that does not pass under its reason. */
export function renderResultPage(page: ResultPage): string {
  const { outcomes, known, further = [], appendix = [] } = page;
  const counts: (readonly [string, number])[] = [
    ['tests', outcomes.length],
    ['passed', countOf(outcomes, 'passed')],
    ['failed', countOf(outcomes, 'failed')],
    ['skipped by the suite', countOf(outcomes, 'skipped')],
    ...further,
  ];
  const lines = [
    `# ${page.title}`,
    '',
    ...page.introduction.flatMap((paragraph) => [paragraph, '']),
    row(counts.map(([heading]) => heading)),
    row(counts.map(() => '---:')),
    row(counts.map(([, number]) => String(number))),
    '',
    '| reason for not passing | count | tests |',
    '| --- | ---: | --- |',
    ...[...known].toSorted(byCount).map(([reason, names]) => {
      return row([escapeCell(reason), String(names.length), names.toSorted().map(escapeCell).join(', ')]);
    }),
    '',
    ...appendix,
  ];
  return lines.join('\n');
}

/** Whether the committed page matches this run. */
export async function isCurrent(file: URL, page: ResultPage): Promise<boolean> {
  return (await readFile(file, 'utf8')) === renderResultPage(page);
}

export async function writeResultPage(file: URL, page: ResultPage): Promise<void> {
  await writeFile(file, renderResultPage(page));
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function escapeCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;');
}
