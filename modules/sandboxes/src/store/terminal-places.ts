import type { Breach, Limits } from '@svc/quotas';
import type { Kysely } from 'kysely';
import { sandboxQuotas } from '../quotas.ts';
import type { TerminalPlaces } from '../domain/terminal/terminal-places.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import type { SandboxTables } from './tables.ts';

export function createTerminalPlaces(kysely: Kysely<SandboxTables>, node: string): TerminalPlaces {
  return {
    take: (id: string, limits: Limits): Promise<Breach | null> =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.terminals, 1]]);
        if (breach !== null) return breach;
        const row = { id, workspace_uuid: limits.workspaceUuid, node };
        await transaction.insertInto('sandbox_terminal').values(row).execute();
        return null;
      }),
    async release(id) {
      await kysely.deleteFrom('sandbox_terminal').where('id', '=', id).execute();
    },
    async clear(ended) {
      await kysely.deleteFrom('sandbox_terminal').where('node', '=', ended).execute();
    },
  };
}
