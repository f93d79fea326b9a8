import type { PlatformStatus } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { describeIsolation } from '../client/describe-isolation.ts';
import { renderBytes, renderTable } from '../client/output.ts';
import { renderNodes } from '../client/render-nodes.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

/** `svc status`: prints the console's overview. */
export function registerStatusCommand(program: Command): void {
  addConnectionOptions(program.command('status'))
    .description('Show the services of a workspace and, to the operator, the nodes of the platform')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const status = await svc.platform.status({ workspaceUuid, teamUuid }, { signal });
        const services = renderTable(['SERVICE', 'STATE', 'DETAILS'], renderRows(status.services));
        const { user } = await svc.accounts.me({ signal });
        if (user?.operator !== true) return output.answer(status, services);
        const overview = await svc.nodes.list({ signal });
        output.answer({ ...status, ...overview }, [...services, '', ...renderNodes(overview)]);
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
    enabled ? [name, 'on', details] : [name, 'off', reason ?? 'disabled in the configuration'],
  );
}
