import { CommandFailure } from '../client/command-failure.ts';
import { printable } from '../client/output.ts';
import { deleteObjects, MOST_DELETES, type DeleteTarget } from '../s3/s3-operations.ts';
import { forEachParallel } from './body-limiter.ts';
import { renderRemote } from './object-location.ts';
import { noteFailure, type RunOptions, type TransferSummary } from './run-tasks.ts';
import type { TransferContext } from './transfer-context.ts';

export interface Removal {
  context: TransferContext;
  run: RunOptions;
  bucket: string;
  summary: TransferSummary;
}

/** Deletes all targets in parallel requests of the maximum batch size. */
export async function removeObjects(removal: Removal, targets: AsyncIterable<DeleteTarget>): Promise<void> {
  await forEachParallel(splitIntoBatches(targets), removal.run.parallel, (batch) => removeBatch(removal, batch));
}

/** Deletes at most 1,000. Failures are reported and counted, but don't stop the rest. */
export async function removeBatch(removal: Removal, targets: readonly DeleteTarget[]): Promise<void> {
  const { context, run, bucket, summary } = removal;
  const { client, signal } = context;
  const errors = run.dryRun ? [] : await deleteObjects(client, { bucket, targets, signal });
  const failed = new Map(errors.map((error) => [describeTarget(error), error.message]));
  for (const target of targets) {
    const message = failed.get(describeTarget(target));
    const name = renderRemote({ bucket, key: describeTarget(target) });
    if (message === undefined) noteRemoved(removal, name);
    else noteFailure(summary, run, name, new CommandFailure(message));
  }
}

export function noteRemoved({ run, summary }: Pick<Removal, 'run' | 'summary'>, name: string): void {
  summary.deleted += 1;
  if (run.quiet || run.output.json) return;
  run.progress.clear();
  run.output.note(`${run.dryRun ? '(dry run) ' : ''}delete: ${printable(name)}`);
}

async function* splitIntoBatches(targets: AsyncIterable<DeleteTarget>): AsyncGenerator<DeleteTarget[], void> {
  let batch: DeleteTarget[] = [];
  for await (const target of targets) {
    batch.push(target);
    if (batch.length < MOST_DELETES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function describeTarget({ key, versionId }: DeleteTarget): string {
  return versionId === undefined ? key : `${key} (version ${versionId})`;
}
