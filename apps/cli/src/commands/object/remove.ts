import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { deleteObject, deleteObjects, headObject, listObjects, MOST_DELETES } from '../../s3/s3-operations.ts';
import { addFilterOptions, filterOf, type FilterFlags } from '../../transfer/filter-options.ts';
import { parseRemote, renderRemote, type RemoteLocation } from '../../transfer/object-location.ts';
import { emptySummary, finishTasks, noteFailure, type TransferSummary } from '../../transfer/run-tasks.ts';
import { withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';

interface RemoveFlags extends TransferFlags, FilterFlags {
  recursive?: boolean;
  versionId?: string;
}

export function registerObjectRemove(parent: Command): void {
  const command = addConnectionOptions(parent.command('rm'))
    .description('delete objects')
    .argument('<location>', 'svc://bucket/key; with --recursive the beginning of keys')
    .option('-r, --recursive', 'every object whose key begins so')
    .option('--version-id <id>', 'this version for good, instead of the current one')
    .option('--dry-run', 'only say what would be done')
    .option('--quiet', 'say only what goes wrong');
  addFilterOptions(command).action((text: string, flags: RemoveFlags) =>
    withTransfers(flags, async (transfers) => {
      const location = parseRemote(text);
      const summary = emptySummary(transfers.run.dryRun);
      if (flags.recursive === true) await removeBelow(transfers, location, flags, summary);
      else await removeOne(transfers, location, flags, summary);
      finishTasks(summary, transfers.run);
    }),
  );
}

/** S3 deletes what does not exist without a word; a person who mistyped a name wants to know. */
async function removeOne(
  { context: { client, signal }, run }: Transfers,
  location: RemoteLocation,
  { versionId }: RemoveFlags,
  summary: TransferSummary,
): Promise<void> {
  const { bucket, key } = location;
  if (key === '')
    throw usageFailure(`${renderRemote(location)} names no object`, '--recursive deletes everything below');
  if (versionId === undefined) await headObject(client, { bucket, key, signal });
  if (!run.dryRun)
    await deleteObject(client, { bucket, key, signal, ...(versionId === undefined ? {} : { versionId }) });
  summary.deleted += 1;
  told(run, renderRemote(location));
}

async function removeBelow(
  transfers: Transfers,
  { bucket, key: prefix }: RemoteLocation,
  flags: RemoveFlags,
  summary: TransferSummary,
): Promise<void> {
  const { context, run } = transfers;
  const takes = filterOf(flags);
  let keys: string[] = [];
  for await (const { object } of listObjects(context.client, { bucket, prefix, signal: context.signal })) {
    if (object === undefined || !takes(object.key.slice(prefix.length))) continue;
    keys.push(object.key);
    if (keys.length < MOST_DELETES) continue;
    await removeBatch(transfers, bucket, keys, summary);
    keys = [];
  }
  if (keys.length > 0) await removeBatch(transfers, bucket, keys, summary);
  if (summary.deleted + summary.failed === 0 && !run.quiet) run.output.warn('nothing is there that begins so');
}

async function removeBatch(
  { context: { client, signal }, run }: Transfers,
  bucket: string,
  keys: readonly string[],
  summary: TransferSummary,
): Promise<void> {
  const errors = run.dryRun ? [] : await deleteObjects(client, { bucket, keys, signal });
  const failed = new Map(errors.map(({ key, message }) => [key, message]));
  for (const key of keys) {
    const message = failed.get(key);
    if (message === undefined) {
      summary.deleted += 1;
      told(run, renderRemote({ bucket, key }));
    } else noteFailure(summary, run, renderRemote({ bucket, key }), new CommandFailure(message));
  }
}

function told({ output, dryRun, quiet }: Transfers['run'], name: string): void {
  if (!quiet) output.note(`${dryRun ? '(dry run) ' : ''}delete: ${printable(name)}`);
}
