import type { PlatformStatus } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { describeIsolation } from '../client/describe-isolation.ts';
import { renderBytes } from '../client/output.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

/** `svc status`: prints the console's overview. */
export function registerStatusCommand(program: Command): void {
  addConnectionOptions(program.command('status'))
    .description('Show the services of a workspace and the isolation of its sandboxes')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const status = await svc.platform.status({ workspaceUuid, teamUuid }, { signal });
        output.answerTable(status, ['SERVICE', 'STATE', 'DETAILS'], renderRows(status.services));
      }),
    );
}

function renderRows({ clusters, object_store: store, sandboxes }: PlatformStatus['services']): string[][] {
  const stored = `${store.buckets} buckets, ${store.objects} objects, ${renderBytes(store.bytes)}`;
  const isolation = describeIsolation(sandboxes);
  const running = `${sandboxes.running} of ${sandboxes.total} running${isolation === null ? '' : `, ${isolation}`}`;
  const rows = [
    ['clusters', clusters, `${clusters.connected} of ${clusters.total} connected`],
    ['object store', store, stored],
    ['sandboxes', sandboxes, running],
  ] as const;
  return rows.map(([name, { enabled, reason }, details]) =>
    enabled ? [name, 'on', details] : [name, 'off', reason ?? 'switched off in the configuration'],
  );
}
