import type { SandboxInfo, SandboxStatus } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, readPairs, withSandboxes } from './with-sandboxes.ts';

interface ListFlags extends ConnectionFlags {
  status?: string;
  label?: string[];
  quiet?: boolean;
}

const STATUSES: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];

export function registerSandboxList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List sandboxes, newest first')
    .option('--status <status>', `Filter by status: ${STATUSES.join(', ')}`)
    .option('--label <KEY=VALUE>', 'Filter by label; repeatable, all must match', collect)
    .option('-q, --quiet', 'Print IDs only')
    .action((flags: ListFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const query = { status: readStatus(flags.status), labels: readPairs(flags.label ?? [], 'label') };
        const infos: SandboxInfo[] = [];
        for await (const { info } of sandboxes.list({ ...query, pageSize: 200 }, { signal })) infos.push(info);
        if (flags.quiet === true)
          output.answer(
            infos.map(({ id }) => id),
            infos.map(({ id }) => id),
          );
        else output.answerTable(infos, ['NAME', 'ID', 'STATUS', 'IMAGE', 'CREATED'], infos.map(renderRow));
      }),
    );
}

function renderRow(info: SandboxInfo): string[] {
  return [info.name, info.id, describeStatus(info), info.image, info.created_at];
}

/** Status for people: the contract reports a paused sandbox as running, and an error has a cause. */
export function describeStatus(info: SandboxInfo): string {
  if (info.status === 'running' && typeof info.paused_at === 'string') return 'paused';
  return info.status === 'error' && info.error !== null ? `error (${info.error.code})` : info.status;
}

function readStatus(text: string | undefined): SandboxStatus | undefined {
  const status = STATUSES.find((each) => each === text);
  if (text !== undefined && status === undefined)
    throw usageFailure(`${JSON.stringify(text)} is not a status`, STATUSES.join(', '));
  return status;
}
