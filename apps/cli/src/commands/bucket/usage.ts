import type { UsagePoint, UsageResolution } from '@svc/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { renderBytes } from '../../client/output.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface UsageFlags extends ConnectionFlags {
  from?: string;
  to?: string;
  resolution: UsageResolution;
}

export function registerBucketUsage(parent: Command): void {
  addConnectionOptions(parent.command('usage'))
    .description('Show storage and traffic by day or hour, of one bucket or all')
    .argument('[bucket]')
    .option('--from <time>', 'Start, such as 2026-11-01 or 2026-11-01T12:00Z (default 30 days or 48 hours ago)')
    .option('--to <time>', 'End, exclusive (default now)')
    .addOption(new Option('--resolution <period>', 'Interval').choices(['hour', 'day']).default('day'))
    .action((bucket: string | undefined, flags: UsageFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { resolution } = flags;
        const [from, to] = [readTime('--from', flags.from), readTime('--to', flags.to)];
        const usage = await (await connect()).store.usage({ bucket, from, to, resolution }, { signal });
        const columns = [resolution === 'day' ? 'DAY (UTC)' : 'HOUR (UTC)', 'OBJECTS', 'SIZE', 'REQUESTS', 'IN', 'OUT'];
        output.answerTable(
          usage,
          columns,
          usage.points.map((point) => renderLine(point, resolution)),
        );
        if (usage.points.length === 0) output.note('No usage data for this period');
      }),
    );
}

function renderLine(point: UsagePoint, resolution: UsageResolution): string[] {
  return [
    resolution === 'day' ? point.at.slice(0, 10) : point.at.slice(0, 16).replace('T', ' '),
    String(point.object_count),
    renderBytes(point.size_bytes),
    String(point.request_count),
    renderBytes(point.bytes_in),
    renderBytes(point.bytes_out),
  ];
}

function readTime(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw usageFailure(`${flag} ${JSON.stringify(text)} is not a date or time`);
  return time;
}
