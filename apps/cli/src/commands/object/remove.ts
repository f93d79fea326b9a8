import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { deleteObject, headObject, listObjects, listVersions, type DeleteTarget } from '../../s3/s3-operations.ts';
import { addFilterOptions, filterOf, type FilterFlags } from '../../transfer/filter-options.ts';
import { parseRemote, renderRemote, type RemoteLocation } from '../../transfer/object-location.ts';
import { noteRemoved, removeObjects } from '../../transfer/remove-objects.ts';
import { emptySummary, finishTasks, type TransferSummary } from '../../transfer/run-tasks.ts';
import { withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';

interface RemoveFlags extends TransferFlags, FilterFlags {
  recursive?: boolean;
  versionId?: string;
  allVersions?: boolean;
}

export function registerObjectRemove(parent: Command): void {
  const command = addConnectionOptions(parent.command('rm'))
    .description('delete objects')
    .argument('<location>', 'svc://bucket/key; with --recursive the beginning of keys')
    .option('-r, --recursive', 'every object whose key begins so')
    .option('--version-id <id>', 'this version for good, instead of the current one')
    .option('--all-versions', 'with --recursive: every version for good, and the marks of deletion')
    .option('--dry-run', 'only say what would be done')
    .option('--quiet', 'say only what goes wrong');
  addFilterOptions(command).action((text: string, flags: RemoveFlags) =>
    withTransfers(flags, async (transfers) => {
      const location = parseRemote(text);
      const summary = emptySummary(transfers.run.dryRun);
      if (flags.allVersions === true && flags.recursive !== true)
        throw usageFailure('--all-versions goes with --recursive', 'svc object rm KEY --version-id ID deletes one');
      if (flags.versionId !== undefined && flags.recursive === true)
        throw usageFailure('--version-id is that of one object');
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
  if (!run.dryRun) await deleteObject(client, { bucket, key, versionId, signal });
  noteRemoved({ run, summary }, renderRemote(location));
}

async function removeBelow(
  { context, run }: Transfers,
  { bucket, key: prefix }: RemoteLocation,
  flags: RemoveFlags,
  summary: TransferSummary,
): Promise<void> {
  const chosen = targetsBelow(context, { bucket, prefix }, flags);
  await removeObjects({ context, run, bucket, summary }, chosen);
  if (summary.deleted + summary.failed === 0 && !run.quiet) run.output.warn('nothing is there to delete');
}

async function* targetsBelow(
  { client, signal }: Transfers['context'],
  below: { bucket: string; prefix: string },
  flags: RemoveFlags,
): AsyncGenerator<DeleteTarget, void> {
  const takes = filterOf(flags);
  const isMeant = ({ key }: DeleteTarget): boolean => takes(key.slice(below.prefix.length));
  if (flags.allVersions === true) {
    for await (const { key, versionId } of listVersions(client, { ...below, signal }))
      if (isMeant({ key })) yield { key, versionId };
    return;
  }
  for await (const { object } of listObjects(client, { ...below, signal }))
    if (object !== undefined && isMeant(object)) yield { key: object.key };
}
