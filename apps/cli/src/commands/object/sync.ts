import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { MOST_DELETES, type DeleteTarget } from '../../s3/s3-operations.ts';
import type { AttributeFlags } from '../../transfer/attribute-options.ts';
import { readRange } from '../../transfer/file-bytes.ts';
import type { FilterFlags } from '../../transfer/key-filter.ts';
import type { LocalFile } from '../../transfer/local-files.ts';
import { LocalTarget } from '../../transfer/local-target.ts';
import { folderPrefix, readLocations, type Location } from '../../transfer/object-location.ts';
import { removeBatch } from '../../transfer/remove-objects.ts';
import {
  emptySummary,
  finishTasks,
  runTasks,
  type TransferSummary,
  type TransferTask,
} from '../../transfer/run-tasks.ts';
import { planSync, type SyncEntry, type SyncRules } from '../../transfer/sync-plan.ts';
import {
  copyTask,
  downloadTask,
  localBelow,
  remoteBelow,
  uploadTask,
  type NamedObject,
  type PlanOptions,
} from '../../transfer/transfer-plan.ts';
import { withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';
import { addStoringOptions, createPlanOptions } from './copy.ts';

interface SyncFlags extends TransferFlags, FilterFlags, AttributeFlags {
  delete?: boolean;
  sizeOnly?: boolean;
  checksum?: boolean;
}

type Place = Exclude<Location, { kind: 'stream' }>;
type Found = LocalFile | NamedObject;

export function registerObjectSync(parent: Command): void {
  const command = addConnectionOptions(parent.command('sync'))
    .description('Sync a folder or bucket: copy files that are new, newer, or of another size')
    .argument('<source>', 'Folder or svc://BUCKET/FOLDER')
    .argument('<target>', 'Folder or svc://BUCKET/FOLDER')
    .option('--delete', 'Delete files from the target that the source does not have')
    .option('--size-only', 'Compare sizes only, not times')
    .option('--checksum', 'Compare MD5 checksums instead of times, where the ETag is one');
  addStoringOptions(command).action((source: string, target: string, flags: SyncFlags) =>
    withTransfers(flags, async (transfers) => {
      const [from, to] = readLocations(source, target, existsSync);
      if (from.kind === 'stream' || to.kind === 'stream')
        throw usageFailure('sync does not support standard input and output (-)');
      await transfers.context.client.keys.get();
      const summary = emptySummary(transfers.run.dryRun);
      await runTasks(planTasks(transfers, [from, to], flags, summary), summary, transfers.run);
      finishTasks(summary, transfers.run);
    }),
  );
}

async function* planTasks(
  transfers: Transfers,
  [from, to]: [Place, Place],
  flags: SyncFlags,
  summary: TransferSummary,
): AsyncGenerator<TransferTask, void> {
  const { run } = transfers;
  const options = createPlanOptions(run, flags);
  if (from.kind === 'local' && !existsSync(from.path)) throw usageFailure(`${from.path} does not exist`);
  if (to.kind === 'local' && !run.dryRun) await mkdir(to.path, { recursive: true });
  const rules: SyncRules<Found, Found> = {
    deleteExtra: flags.delete === true,
    sizeOnly: flags.sizeOnly === true,
    // Between buckets, compare ETags rather than times: each copy is newer than its source.
    ...(flags.checksum === true || (from.kind === 'remote' && to.kind === 'remote') ? { sameContent } : {}),
  };
  const target = to.kind === 'local' ? new LocalTarget(to.path) : null;
  const removal = { ...transfers, bucket: to.kind === 'remote' ? to.bucket : '', summary };
  let extra: DeleteTarget[] = [];
  for await (const action of planSync(entries(transfers, from, options), entries(transfers, to, options), rules)) {
    if (action.kind === 'skip') summary.skipped += 1;
    else if (action.kind === 'copy') yield copyTo(transfers, action.source, to, target, options);
    else if (!('bucket' in action.target)) yield deleteFile(action.target);
    else if (extra.push({ key: action.target.key }) === MOST_DELETES) {
      await removeBatch(removal, extra);
      extra = [];
    }
  }
  if (extra.length > 0) await removeBatch(removal, extra);
}

async function* entries({ context }: Transfers, place: Place, options: PlanOptions): AsyncGenerator<Found, void> {
  if (place.kind === 'local' && !existsSync(place.path)) return;
  const found: AsyncIterable<Found> =
    place.kind === 'local' ? localBelow(context, place, options) : remoteBelow(context, place);
  for await (const entry of found) if (options.takes(entry.name)) yield entry;
}

function copyTo(
  { context }: Transfers,
  source: Found,
  to: Place,
  target: LocalTarget | null,
  options: PlanOptions,
): TransferTask {
  if (to.kind === 'local') {
    if (!('bucket' in source)) throw usageFailure('neither argument is in a bucket');
    return downloadTask(context, source, target ?? new LocalTarget(to.path));
  }
  const place = { ...to, key: `${folderPrefix(to.key)}${source.name}` };
  return 'bucket' in source ? copyTask(context, source, place, options) : uploadTask(context, source, place, options);
}

function deleteFile({ path }: LocalFile): TransferTask {
  return { verb: 'delete', from: path, to: null, sizeBytes: 0, run: async () => rm(path).then(() => 0) };
}

/** Equal MD5s are proof; if one side has none, compare times as without the flag. */
async function sameContent(source: Found, target: Found): Promise<boolean> {
  const [left, right] = [await readMd5(source), await readMd5(target)];
  if (left !== null && right !== null) return left === right;
  if ('bucket' in source && 'bucket' in target) return source.etag === target.etag || isOlder(source, target);
  return isOlder(source, target);
}

function isOlder(source: SyncEntry, target: SyncEntry): boolean {
  return Math.floor(source.modifiedAtMs) <= Math.floor(target.modifiedAtMs);
}

async function readMd5(entry: Found): Promise<string | null> {
  if ('bucket' in entry) return /^[0-9a-f]{32}$/.test(entry.etag) ? entry.etag : null;
  const file = await open(entry.path);
  try {
    const hash = createHash('md5');
    for await (const chunk of readRange(file, { start: 0, endExclusive: entry.sizeBytes })) hash.update(chunk);
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}
