import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import { accessKeySource } from '../client/access-keys.ts';
import { CommandFailure, EXIT, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { withSession, type Session } from '../client/session.ts';
import { S3Client } from '../s3/s3-client.ts';
import { readCustomerKey, type CustomerKeyFlags } from './customer-key.ts';
import { BodyLimiter } from './body-limiter.ts';
import { PartBuffers } from './part-buffers.ts';
import { MIN_PART_BYTES } from './part-plan.ts';
import { ProgressLine } from './progress.ts';
import type { RunOptions } from './run-tasks.ts';
import type { TransferContext } from './transfer-context.ts';

/** Flags of the transfer commands. */
export interface TransferFlags extends ConnectionFlags, CustomerKeyFlags {
  parallel?: string;
  partSize?: string;
  quiet?: boolean;
  dryRun?: boolean;
}

export interface Transfers {
  session: Session;
  context: TransferContext;
  run: RunOptions;
}

const MOST_PARALLEL = 64;

export function addTransferOptions(command: Command): Command {
  return command
    .option(
      '--parallel <count>',
      'Concurrent transfers of large objects and parts; four times as many small ones (default 4)',
    )
    .option('--part-size <MiB>', 'Part size of large objects in MiB (default 16)')
    .option('--dry-run', 'Show what would be done without doing it')
    .option('--quiet', 'Print errors only');
}

/** Runs an S3 command, then releases its connections and its progress line. */
export async function withTransfers(flags: TransferFlags, run: (transfers: Transfers) => Promise<void>): Promise<void> {
  await withSession(flags, async (session) => {
    const { environment, output, signal } = session;
    // Each request in progress listens for Ctrl-C.
    setMaxListeners(0, signal);
    const customerKey = await readCustomerKey(flags.sseCKeyFile);
    const sourceCustomerKey = await readCustomerKey(flags.sseCSourceKeyFile);
    const parallel = readCount('--parallel', flags.parallel ?? '4', MOST_PARALLEL);
    const client = new S3Client(accessKeySource(session), BodyLimiter.mostOf(parallel));
    const watched = process.stderr.isTTY && !output.json && flags.quiet !== true;
    const progress = new ProgressLine(watched ? process.stderr : null);
    const context: TransferContext = {
      client,
      limiter: new BodyLimiter(parallel),
      buffers: new PartBuffers(),
      parallel,
      progress,
      stateFolder: environment.stateFolder,
      partSizeBytes: flags.partSize === undefined ? undefined : readPartSize(flags.partSize),
      customerKey,
      sourceCustomerKey,
      signal,
    };
    const { dryRun = false, quiet = false } = flags;
    try {
      await run({
        session,
        context,
        run: { output, progress, parallel: BodyLimiter.mostOf(parallel), dryRun, quiet, signal },
      });
    } catch (error) {
      throw signal.aborted ? interrupted(error) : error;
    } finally {
      progress.close();
      client.close();
    }
  });
}

function interrupted(cause: unknown): CommandFailure {
  const hint = 'run the same command again to resume';
  return new CommandFailure('interrupted', { hint, exitCode: EXIT.interrupted, cause });
}

function readCount(flag: string, text: string, most: number): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw usageFailure(`${flag} ${text} is not a number from 1 to ${most}`);
}

function readPartSize(text: string): number {
  const sizeBytes = readCount('--part-size', text, 5 * 1024) * 1024 * 1024;
  if (sizeBytes < MIN_PART_BYTES) throw usageFailure('the part size must be at least 5 MiB');
  return sizeBytes;
}
