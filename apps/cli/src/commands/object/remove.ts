import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import {
  deleteObject,
  deleteObjects,
  headObject,
  listObjects,
  listVersions,
  MOST_DELETES,
  type DeleteTarget,
} from '../../s3/s3-operations.ts';
import { addFilterOptions, filterOf, type FilterFlags } from '../../transfer/filter-options.ts';
import { parseRemote, renderRemote, type RemoteLocation } from '../../transfer/object-location.ts';
import { emptySummary, finishTasks, noteFailure, type TransferSummary } from '../../transfer/run-tasks.ts';
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
  let targets: DeleteTarget[] = [];
  for await (const target of targetsBelow(context, { bucket, prefix }, flags.allVersions === true)) {
    if (!takes(target.key.slice(prefix.length))) continue;
    targets.push(target);
    if (targets.length < MOST_DELETES) continue;
    await removeBatch(transfers, bucket, targets, summary);
    targets = [];
  }
  if (targets.length > 0) await removeBatch(transfers, bucket, targets, summary);
  if (summary.deleted + summary.failed === 0 && !run.quiet) run.output.warn('nothing is there to delete');
}

async function* targetsBelow(
  { client, signal }: Transfers['context'],
  below: { bucket: string; prefix: string },
  allVersions: boolean,
): AsyncGenerator<DeleteTarget, void> {
  if (allVersions) {
    for await (const { key, versionId } of listVersions(client, { ...below, signal })) yield { key, versionId };
    return;
  }
  for await (const { object } of listObjects(client, { ...below, signal }))
    if (object !== undefined) yield { key: object.key };
}

async function removeBatch(
  { context: { client, signal }, run }: Transfers,
  bucket: string,
  targets: readonly DeleteTarget[],
  summary: TransferSummary,
): Promise<void> {
  const errors = run.dryRun ? [] : await deleteObjects(client, { bucket, targets, signal });
  const failed = new Map(errors.map((error) => [nameOf(error), error.message]));
  for (const target of targets) {
    const message = failed.get(nameOf(target));
    const name = renderRemote({ bucket, key: nameOf(target) });
    if (message === undefined) {
      summary.deleted += 1;
      told(run, name);
    } else noteFailure(summary, run, name, new CommandFailure(message));
  }
}

function nameOf({ key, versionId }: DeleteTarget): string {
  return versionId === undefined ? key : `${key} (version ${versionId})`;
}

function told({ output, dryRun, quiet }: Transfers['run'], name: string): void {
  if (!quiet) output.note(`${dryRun ? '(dry run) ' : ''}delete: ${printable(name)}`);
}
