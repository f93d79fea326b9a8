import { formatAmount } from '@svc/quotas/amount-text';
import type { QuotaState } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

/** `svc quota`: for everyone with read access to a workspace; `svc admin quota` changes limits. */
export function registerQuotaCommand(program: Command): void {
  addConnectionOptions(program.command('quota'))
    .description('Show the quotas of a workspace and their usage')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const found = await svc.workspaces.quotas({ workspaceUuid, teamUuid }, { signal });
        output.answerTable(
          found,
          ['QUOTA', 'USED', 'LIMIT', 'OF'],
          [...renderRows(found.quotas, 'workspace'), ...renderRows(found.owner?.quotas ?? [], 'owner')],
        );
      }),
    );
}

function renderRows(quotas: readonly QuotaState[], scope: string): string[][] {
  return quotas.map(({ name, unit, used, limit }) => [
    name,
    used === null ? '-' : formatAmount(unit, used),
    formatAmount(unit, limit),
    scope,
  ]);
}
