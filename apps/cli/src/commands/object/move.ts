import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { deleteObject } from '../../s3/s3-operations.ts';
import type { AttributeFlags } from '../../transfer/attribute-options.ts';
import type { FilterFlags } from '../../transfer/key-filter.ts';
import type { LocalFile } from '../../transfer/local-files.ts';
import { readLocations, renderRemote, type Location } from '../../transfer/object-location.ts';
import type { TransferTask } from '../../transfer/run-tasks.ts';
import { planMany, planOne, type NamedObject } from '../../transfer/transfer-plan.ts';
import { withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';
import { addStoringOptions, createPlanOptions, runCopies } from './copy.ts';

interface MoveFlags extends TransferFlags, FilterFlags, AttributeFlags {
  recursive?: boolean;
}

export function registerObjectMove(parent: Command): void {
  const command = addConnectionOptions(parent.command('mv'))
    .description('Move objects: copy, then delete each source once its copy is stored')
    .argument('<source>', 'File, folder, or svc://BUCKET/KEY')
    .argument('<target>', 'File, folder, or svc://BUCKET/KEY')
    .option('-r, --recursive', 'Move a folder and everything in it');
  addStoringOptions(command).action((source: string, target: string, flags: MoveFlags) =>
    withTransfers(flags, async (transfers) => {
      const [from, to] = readLocations(source, target, existsSync);
      await runCopies(transfers, planMoves(transfers, from, to, flags));
    }),
  );
}

async function* planMoves(
  transfers: Transfers,
  from: Location,
  to: Location,
  flags: MoveFlags,
): AsyncGenerator<TransferTask, void> {
  if (from.kind === 'stream' || to.kind === 'stream')
    throw usageFailure('- cannot be moved', 'use svc object cp instead');
  const options = createPlanOptions(transfers.run, flags);
  const { context } = transfers;
  if (flags.recursive === true) {
    for await (const { task, source } of planMany(context, from, to, options))
      yield withoutSource(transfers, task, source);
    return;
  }
  const { task, source } = await planOne(context, from, to, options);
  yield withoutSource(transfers, task, source);
}

function withoutSource({ context }: Transfers, task: TransferTask, source: LocalFile | NamedObject): TransferTask {
  const run = async (): Promise<number> => {
    const isItself = 'bucket' in source && task.to === renderRemote(source);
    if (isItself) throw usageFailure('source and target are the same');
    const sizeBytes = await task.run();
    if ('bucket' in source)
      await deleteObject(context.client, { bucket: source.bucket, key: source.key, signal: context.signal });
    else await rm(source.path);
    return sizeBytes;
  };
  return { ...task, verb: 'move', run };
}
