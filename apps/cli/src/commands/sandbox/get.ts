import type { SandboxInfo } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { describeStatus } from './list.ts';
import { withSandboxes } from './with-sandboxes.ts';

export function registerSandboxGet(parent: Command): void {
  addConnectionOptions(parent.command('get'))
    .description('Show a sandbox')
    .argument('<name or id>')
    .action((name: string, flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ find, output }) => {
        const { info } = await find(name);
        output.answer(info, renderLines(info));
      }),
    );
}

function renderLines(info: SandboxInfo): string[] {
  const { cpu, memory_mb: memory, disk_mb: disk, pids, gpus } = info.resources;
  const fields: [string, string | null][] = [
    ['Name', info.name],
    ['Id', info.id],
    ['Status', describeStatus(info)],
    ['Reason', info.error?.message ?? info.state_reason],
    ['Image', info.image],
    ['Created', info.created_at],
    ['Started', info.started_at],
    ['Expires', info.expires_at],
    ['Last used', info.last_activity_at],
    [
      'Resources',
      `${cpu} CPU, ${memory} MiB memory, ${disk} MiB disk, ${pids} processes${gpus === undefined ? '' : `, ${gpus} GPUs`}`,
    ],
    ['Cluster', info.cluster],
    ['Driver', `${info.driver}, isolation ${info.isolation}${info.shares_kernel ? " (shares the host's kernel)" : ''}`],
    ['Network', info.network],
    [
      'Buckets',
      info.mounts
        .map(({ bucket, prefix, path, read_only: ro }) => `${bucket}/${prefix} at ${path}${ro ? ' (read-only)' : ''}`)
        .join(', '),
    ],
    [
      'Volumes',
      info.volumes.map(({ name, path, read_only: ro }) => `${name} at ${path}${ro ? ' (read-only)' : ''}`).join(', '),
    ],
    ['On node lost', info.on_node_lost === 'restore' ? 'restore' : null],
    ['On drain', info.on_drain === 'stop' ? null : info.on_drain],
    ['Labels', renderPairs(info.labels)],
    ['Environment', renderPairs(info.environment)],
  ];
  return fields.flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name.padEnd(12)} ${printable(value)}`],
  );
}

function renderPairs(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}
