import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { deleteObject, headObject, listObjects, listVersions, type DeleteTarget } from '../../s3/s3-operations.ts';
import { addFilterOptions, createFilter, type FilterFlags } from '../../transfer/key-filter.ts';
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
    .description('Delete objects')
    .argument('<location>', 'svc://BUCKET/KEY; with --recursive, a key prefix')
    .option('-r, --recursive', 'Delete every object with this key prefix')
    .option('--version-id <id>', 'Permanently delete this version instead of the current one')
    .option('--all-versions', 'With --recursive: permanently delete every version and delete marker')
    .option('--dry-run', 'Show what would be done without doing it')
    .option('--quiet', 'Print errors only');
  addFilterOptions(command).action((text: string, flags: RemoveFlags) =>
    withTransfers(flags, async (transfers) => {
      const location = parseRemote(text);
      const summary = emptySummary(transfers.run.dryRun);
      if (flags.allVersions === true && flags.recursive !== true)
        throw usageFailure(
          '--all-versions requires --recursive',
          'to delete one version, use svc object rm KEY --version-id ID',
        );
      if (flags.versionId !== undefined && flags.recursive === true)
        throw usageFailure('--version-id requires a single object');
      if (flags.recursive === true) await removeBelow(transfers, location, flags, summary);
      else await removeOne(transfers, location, flags, summary);
      finishTasks(summary, transfers.run);
    }),
  );
}

/** Reports missing objects, since S3 deletes them silently and the user may have mistyped a name. */
async function removeOne(
  { context: { client, signal }, run }: Transfers,
  location: RemoteLocation,
  { versionId }: RemoveFlags,
  summary: TransferSummary,
): Promise<void> {
  const { bucket, key } = location;
  if (key === '')
    throw usageFailure(
      `${renderRemote(location)} does not name an object`,
      'use --recursive to delete everything under it',
    );
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
  if (summary.deleted + summary.failed === 0 && !run.quiet) run.output.warn('nothing to delete');
}

async function* targetsBelow(
  { client, signal }: Transfers['context'],
  below: { bucket: string; prefix: string },
  flags: RemoveFlags,
): AsyncGenerator<DeleteTarget, void> {
  const takes = createFilter(flags);
  const isMeant = ({ key }: DeleteTarget): boolean => takes(key.slice(below.prefix.length));
  if (flags.allVersions === true) {
    for await (const { key, versionId } of listVersions(client, { ...below, signal }))
      if (isMeant({ key })) yield { key, versionId };
    return;
  }
  for await (const { object } of listObjects(client, { ...below, signal }))
    if (object !== undefined && isMeant(object)) yield { key: object.key };
}
