import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { versionQuery } from '../../s3/s3-operations.ts';
import {
  addAttributeOptions,
  readAttributes,
  uploadHeaders,
  type AttributeFlags,
} from '../../transfer/attribute-options.ts';
import { addCopyKeyOption, addCustomerKeyOption, customerKeyHeaders } from '../../transfer/customer-key.ts';
import { addFilterOptions, createFilter, type FilterFlags } from '../../transfer/key-filter.ts';
import { parseObject, readLocations, renderRemote, type RemoteLocation } from '../../transfer/object-location.ts';
import { verified } from '../../transfer/read-object.ts';
import { emptySummary, finishTasks, runTasks, type TransferTask } from '../../transfer/run-tasks.ts';
import type { TransferContext } from '../../transfer/transfer-context.ts';
import { planMany, planOne, type PlanOptions } from '../../transfer/transfer-plan.ts';
import { uploadStream } from '../../transfer/upload-stream.ts';
import { addVersionOption, type VersionFlags } from '../../transfer/version-option.ts';
import { addTransferOptions, withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';

interface CopyFlags extends TransferFlags, FilterFlags, AttributeFlags, VersionFlags {
  recursive?: boolean;
}

export function registerObjectCopy(parent: Command): void {
  const command = addConnectionOptions(parent.command('cp'))
    .description('Copy files to a bucket, objects to files, or objects to another bucket')
    .argument('<source>', 'File, folder, svc://BUCKET/KEY, or - for standard input')
    .argument('<target>', 'File, folder, svc://BUCKET/KEY, or - for standard output')
    .option('-r, --recursive', 'Copy a folder and everything in it');
  addStoringOptions(addVersionOption(command))
    .addHelpText('after', '\nTo resume an interrupted copy, run the same command again.')
    .action((source: string, target: string, flags: CopyFlags) =>
      withTransfers(flags, async (transfers) => {
        const [from, to] = readLocations(source, target, existsSync);
        if (from.kind === 'stream' && to.kind === 'remote') await copyFromStream(transfers, to, flags);
        else if (to.kind === 'stream' && from.kind === 'remote')
          await copyToStream(transfers.context, from, flags.versionId);
        else if (from.kind === 'stream' || to.kind === 'stream')
          throw usageFailure('- can only be combined with an object');
        else await runCopies(transfers, planCopies(transfers, [from, to], flags));
      }),
    );
}

/** Adds the options of every command that stores objects. */
export function addStoringOptions(command: Command): Command {
  addCopyKeyOption(addCustomerKeyOption(addAttributeOptions(command)));
  return addTransferOptions(addFilterOptions(command));
}

async function* planCopies(
  { context, run }: Transfers,
  [from, to]: [Parameters<typeof planOne>[1], Parameters<typeof planOne>[2]],
  flags: CopyFlags,
): AsyncGenerator<TransferTask, void> {
  const options = { ...createPlanOptions(run, flags), versionId: flags.versionId };
  if (flags.versionId !== undefined && (flags.recursive === true || from.kind !== 'remote'))
    throw usageFailure('--version-id requires a single source object');
  if (flags.recursive !== true) {
    yield (await planOne(context, from, to, options)).task;
    return;
  }
  for await (const { task } of planMany(context, from, to, options)) yield task;
}

export function createPlanOptions(
  { output, progress }: Transfers['run'],
  flags: FilterFlags & AttributeFlags,
): PlanOptions {
  return {
    takes: createFilter(flags),
    attributes: readAttributes(flags),
    onSkipped: (path, reason) => {
      progress.clear();
      output.warn(`skipped ${printable(path)}: ${reason}`);
    },
  };
}

export async function runCopies({ context, run }: Transfers, tasks: AsyncIterable<TransferTask>): Promise<void> {
  await context.client.keys.get(); // report connection errors once, not per file
  const summary = emptySummary(run.dryRun);
  await runTasks(tasks, summary, run);
  finishTasks(summary, run);
}

async function copyFromStream(
  { context, run, session }: Transfers,
  to: RemoteLocation,
  flags: CopyFlags,
): Promise<void> {
  if (to.key === '' || to.key.endsWith('/'))
    throw usageFailure('standard input has no name', 'give the full object key');
  const headers = uploadHeaders(readAttributes(flags), to.key);
  const target = { bucket: to.bucket, key: to.key, headers };
  const sizeBytes = run.dryRun ? 0 : await uploadStream(context, process.stdin, target);
  run.progress.clear();
  session.output.answer(
    { bucket: to.bucket, key: to.key, size: sizeBytes },
    flags.quiet === true ? [] : [`upload: - -> ${printable(renderRemote(to))}`],
  );
}

/** Writes only the bytes; the exit code reports whether they were verified. */
export async function copyToStream(
  { client, signal, customerKey }: TransferContext,
  from: RemoteLocation,
  versionId: string | undefined,
): Promise<void> {
  const { bucket, key } = parseObject(renderRemote(from));
  const headers = { 'x-amz-checksum-mode': 'ENABLED', ...customerKeyHeaders(customerKey) };
  const query = versionQuery(versionId);
  const { body } = await client.send({ method: 'GET', bucket, key, query, headers, signal });
  await pipeline(verified(body, key), process.stdout, { signal, end: false });
}
