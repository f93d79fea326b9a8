import { AppError } from '@svc/errors';
import { backUp, checkObjectStore, restore, scrubObjectStore } from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';

interface StoreFlags {
  data?: string;
  config?: string;
  json?: boolean;
}

const MiB = 1024 * 1024;

/**
 * `svc object-store …`: requires read access to the data folder; all but `restore` also work while the platform is
 * running.
 */
export function registerObjectStoreCommand(program: Command): void {
  const store = program.command('object-store').description('Check, verify, back up, and restore stored objects');
  const command = (name: string, description: string): Command =>
    store
      .command(name)
      .description(description)
      .option('--data <dir>', 'Data folder (default ./data)')
      .option('--config <file>', 'Configuration file (YAML)')
      .option('--json', 'Print JSON');

  command('fsck', 'Check that stored data and metadata agree; exits with 1 on a mismatch').action(
    async (flags: StoreFlags) => {
      const report = await checkObjectStore(readConfiguration(flags).value);
      print(flags, report, [
        `${report.blobsNeeded} blobs needed, ${report.blobsFound} found, ${report.unsettled} being written`,
        ...listed('missing', report.missing),
        ...listed('wrong size', report.wrongSize),
        ...listed('quarantined', report.quarantined),
        ...listed('referenced by no row (the sweep removes them)', report.unknown),
        ...report.usageDrift.map((drift) => `wrong usage count of bucket ${drift.bucketId}`),
        report.clean ? 'clean' : 'NOT clean',
      ]);
      if (!report.clean) process.exitCode = 1;
    },
  );

  command('scrub', 'Verify checksums of stored data; damaged data is quarantined, never deleted')
    .option('--older-than-days <n>', 'Only verify data not verified for this long', '0')
    .option('--mib-per-second <n>', 'Read limit per second', '1000000')
    .action(async (flags: StoreFlags & { olderThanDays: string; mibPerSecond: string }) => {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      const report = await scrubObjectStore(readConfiguration(flags).value, {
        olderThanMs: wholeNumber('--older-than-days', flags.olderThanDays, 0) * 86_400_000,
        bytesPerSecond: wholeNumber('--mib-per-second', flags.mibPerSecond, 1) * MiB,
        signal: stop.signal,
      });
      print(flags, report, [
        `${report.verified} blobs verified, ${report.bytes} bytes read, ${report.learned} checksums recorded, ${report.unreadable} currently unreadable`,
        ...report.findings.map(({ blobId, state, objects }) => {
          const names = objects.map(({ bucket, key }) => `${bucket}/${key}`);
          return `${state}: ${blobId} (${names.join(', ')})`;
        }),
        report.findings.length === 0 ? 'clean' : 'NOT clean',
      ]);
      if (report.findings.length > 0 || report.unreadable > 0) process.exitCode = 1;
    });

  command('backup', 'Back up databases, keys, and stored data; repeated backups to a folder are incremental')
    .requiredOption('--to <dir>', 'Backup folder')
    .option('--keep <n>', 'Number of backups to keep', '7')
    .action(async (flags: StoreFlags & { to: string; keep: string }) => {
      const keep = wholeNumber('--keep', flags.keep, 1);
      const config = readConfiguration(flags).value;
      const report = await backUp(config, { target: flags.to, keep, now: () => new Date() });
      print(flags, report, [
        `snapshot ${report.snapshot}: ${report.blobs} blobs, ${report.copied} of them new (${report.copiedBytes} bytes)`,
        `${report.removedSnapshots} old snapshots and ${report.removedBlobs} of their blobs removed`,
        ...listed('missing or damaged in the object store', report.bad),
      ]);
      if (report.bad.length > 0) process.exitCode = 1;
    });

  command('restore', 'Restore a backup into an empty data folder and database')
    .requiredOption('--from <dir>', 'Backup folder')
    .option('--snapshot <name>', 'Backup to restore (default the newest)')
    .action(async (flags: StoreFlags & { from: string; snapshot?: string }) => {
      const config = readConfiguration(flags).value;
      const report = await restore(config, { source: flags.from, snapshot: flags.snapshot });
      print(flags, report, [
        `snapshot ${report.snapshot}: ${report.blobs} blobs (${report.copiedBytes} bytes)`,
        ...(report.masterKeyIncluded
          ? []
          : ['the backup does not contain the master key: set SVC_MASTER_KEY to the key of that time']),
        ...listed('missing or damaged in the backup', report.bad),
        report.fsck.clean ? 'clean' : 'NOT clean',
      ]);
      if (!report.fsck.clean) process.exitCode = 1;
    });
}

const MOST_LISTED = 20;

function listed(what: string, ids: readonly string[]): string[] {
  const lines = ids.slice(0, MOST_LISTED).map((id) => `${what}: ${id}`);
  return ids.length > MOST_LISTED ? [...lines, `${what}: and ${ids.length - MOST_LISTED} more`] : lines;
}

function print(flags: StoreFlags, report: object, lines: readonly string[]): void {
  process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : `${lines.join('\n')}\n`);
}

function wholeNumber(flag: string, text: string, minimum: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= minimum) return value;
  const message = `${flag} must be a whole number of at least ${minimum}`;
  throw new AppError({ code: 'INVALID_FLAG', status: 400, message });
}
