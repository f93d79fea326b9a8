import { printable, renderBytes, type Output } from '../client/output.ts';
import { CommandFailure, EXIT } from '../client/command-failure.ts';
import { describeExpected } from '../failure.ts';
import { forEachParallel } from './body-limiter.ts';
import type { ProgressLine } from './progress.ts';

/** A unit of work, such as one file to upload. */
export interface TransferTask {
  verb: 'upload' | 'download' | 'copy' | 'move' | 'delete';
  /** The source, or the object to delete. */
  from: string;
  to: string | null;
  sizeBytes: number;
  /** Returns the number of transferred bytes. */
  run: () => Promise<number>;
}

export interface TransferSummary {
  done: number;
  deleted: number;
  skipped: number;
  failed: number;
  bytes: number;
  /** The first hundred. */
  failures: { name: string; message: string }[];
  dry_run: boolean;
}

export interface RunOptions {
  output: Output;
  progress: ProgressLine;
  parallel: number;
  dryRun: boolean;
  quiet: boolean;
  signal: AbortSignal;
}

const MOST_FAILURES = 100;

export function emptySummary(dryRun: boolean): TransferSummary {
  return { done: 0, deleted: 0, skipped: 0, failed: 0, bytes: 0, failures: [], dry_run: dryRun };
}

/** Runs all tasks; a failure does not stop the others. Failures are reported immediately and counted. */
export async function runTasks(
  tasks: AsyncIterable<TransferTask>,
  summary: TransferSummary,
  options: RunOptions,
): Promise<void> {
  const { signal } = options;
  await forEachParallel(tasks, options.parallel, async (task) => {
    if (options.dryRun) {
      count(summary, task, task.verb === 'delete' ? 0 : task.sizeBytes);
      report(options, `(dry run) ${describeTask(task)}`);
      return;
    }
    options.progress.expect(task.sizeBytes);
    try {
      count(summary, task, await task.run());
      report(options, describeTask(task));
    } catch (error) {
      signal.throwIfAborted();
      noteFailure(summary, options, task.from, error);
    } finally {
      options.progress.finish();
    }
  });
  signal.throwIfAborted();
}

export function noteFailure(
  summary: TransferSummary,
  { output, progress }: Pick<RunOptions, 'output' | 'progress'>,
  name: string,
  error: unknown,
): void {
  const message = describeExpected(error);
  if (message === null) throw error; // a bug rather than a failure of this file
  summary.failed += 1;
  if (summary.failures.length < MOST_FAILURES) summary.failures.push({ name, message });
  progress.clear();
  output.warn(`${printable(name)}: ${message}`);
}

/** Prints the summary; throws for a failure exit code. */
export function finishTasks(summary: TransferSummary, { output, progress, quiet }: RunOptions): void {
  progress.close();
  const { done, deleted, skipped, failed, bytes } = summary;
  const counts = [
    ...(done > 0 || deleted + skipped + failed === 0 ? [`${done} done (${renderBytes(bytes)})`] : []),
    ...(deleted > 0 ? [`${deleted} deleted`] : []),
    ...(skipped > 0 ? [`${skipped} up to date`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  if (output.json) output.answer(summary, []);
  else if (!quiet && done + deleted + skipped > 1) output.note(counts.join(', '));
  if (failed === 0) return;
  // A single failure was already printed; several may have scrolled away.
  const last = failed === 1 ? '' : `${failed} failed, ${done + deleted} succeeded`;
  throw new CommandFailure(last, { exitCode: EXIT.failed });
}

function count(summary: TransferSummary, task: TransferTask, bytes: number): void {
  if (task.verb === 'delete') summary.deleted += 1;
  else summary.done += 1;
  summary.bytes += bytes;
}

function report({ output, progress, quiet }: RunOptions, line: string): void {
  if (quiet || output.json) return;
  progress.clear();
  output.note(line);
}

function describeTask({ verb, from, to }: TransferTask): string {
  return `${verb}: ${printable(from)}${to === null ? '' : ` -> ${printable(to)}`}`;
}
