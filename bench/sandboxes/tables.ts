import { markdownTable } from '../markdown-table.ts';
import type { E2bFigures } from './e2b.ts';
import { distributionOf, rounded, type Distribution } from './figures.ts';
import type { FileFigures } from './files.ts';
import { fittingIn, type MemoryFigures } from './memory.ts';
import type { CreateFigures } from './patterns.ts';
import type { ProcessorFigures, ProcessorRound } from './processor-time.ts';

const MiB = 1024 * 1024;

/** The last column is the speedup over the last subject, by median. */
export function createsTable(figures: readonly CreateFigures[]): string {
  const rows = figures.flatMap((each) =>
    (['running', 'prompt'] as const).map((kind) => {
      const peer = figures.filter(({ pattern }) => pattern === each.pattern).at(-1) ?? each;
      const { p50, p95, p99, max } = each[kind];
      const ratio = peer === each ? '' : `${rounded(peer[kind].p50 / p50)}x`;
      const name = `${each.pattern}, ${each.subject}, to ${kind === 'running' ? 'running' : 'first prompt'}`;
      return [name, ...[p50, p95, p99, max].map(rounded), `${rounded(each.success * 100)} %`, ratio];
    }),
  );
  return markdownTable(['create, ms', 'p50', 'p95', 'p99', 'max', 'success', 'faster than the last'], rows);
}

export function memoryTable(figures: MemoryFigures): string {
  const rows = (
    [
      ['all of its processes (PSS)', figures.sandboxBytes],
      ['growth of the platform (PSS)', figures.platformBytes],
      ['memory that the machine has less of', figures.machineBytes],
    ] as const
  ).map(([name, bytes]) => [name, `${(bytes / MiB).toFixed(2)} MiB`]);
  const heading = `for each of ${figures.sandboxes} idle sandboxes`;
  return markdownTable([heading, ''], [...rows, ['so many fit in 8 GiB', String(fittingIn(8, figures))]]);
}

export function processorTable(rounds: readonly ProcessorRound[]): string {
  const row = (name: string, figures: readonly ProcessorFigures[]): string[] => {
    const totals = figures.map(({ platform, launcher, inside }) => platform + launcher + inside);
    const parts = (['platform', 'launcher', 'inside'] as const).map((part) =>
      median(figures.map((each) => each[part])),
    );
    return [name, rounded(median(totals)), ...parts.map(rounded), totals.map(rounded).join(' ')];
  };
  return markdownTable(
    ['processor time per sandbox, ms', 'all', 'platform', 'launcher', 'inside', 'rounds'],
    [
      row(
        'create to running',
        rounds.map(({ create }) => create),
      ),
      row(
        'remove',
        rounds.map(({ remove }) => remove),
      ),
    ],
  );
}

export function throughputTable(rounds: readonly { raw: number; ttyd: number | null; terminal: number }[]): string {
  const raw = rounds.map((each) => each.raw);
  const ttyd = rounds.flatMap((each) => each.ttyd ?? []);
  const row = (name: string, figures: readonly number[]): string[] => [
    name,
    rounded(median(figures)),
    figures.map(rounded).join(' '),
    `${rounded((median(figures) / median(raw)) * 100)} %`,
  ];
  const terminal = row(
    'sandbox, WebSocket',
    rounds.map((each) => each.terminal),
  );
  return markdownTable(
    ['terminal, MB/s', 'median', 'rounds', 'of a bare PTY'],
    [row('a bare PTY', raw), ...(ttyd.length === 0 ? [] : [row('ttyd, WebSocket', ttyd)]), terminal],
  );
}

export function echoTable({ p50, p95, p99, max, count }: Distribution): string {
  return markdownTable(
    ['echo, ms', 'p50', 'p95', 'p99', 'max'],
    [[`${count} letters`, ...[p50, p95, p99, max].map(rounded)]],
  );
}

export function e2bTable(figures: readonly E2bFigures[]): string {
  const rows = figures.flatMap(({ subject, created, output }) =>
    (
      [
        ['Sandbox.create()', created],
        ['and commands.run()', output],
      ] as const
    ).map(([call, { p50, p95, p99, max }]) => [`${subject}, ${call}`, ...[p50, p95, p99, max].map(rounded)]),
  );
  return markdownTable(['E2B SDK, ms', 'p50', 'p95', 'p99', 'max'], rows);
}

export function filesTable(mebibytes: number, { writeMbPerSecond, readMbPerSecond }: FileFigures): string {
  const row = (name: string, rates: readonly number[]): string[] => [
    name,
    rounded(median(rates)),
    rates.map(rounded).join(' '),
  ];
  const rows = [row('write', writeMbPerSecond), row('read', readMbPerSecond)];
  return markdownTable([`one file of ${mebibytes} MiB, MB/s`, 'median', 'rounds'], rows);
}

function median(values: readonly number[]): number {
  return distributionOf(values).p50;
}
