import type { Kysely } from 'kysely';
import type { EgressAuthorityRepository, SealedAuthority } from '../domain/egress-rules/egress-authorities.ts';
import type { SandboxTables } from './tables.ts';

export function createEgressAuthorityRepository(kysely: Kysely<SandboxTables>): EgressAuthorityRepository {
  const find = async (sandboxId: string): Promise<SealedAuthority | null> => {
    const row = await kysely
      .selectFrom('sandbox_authority')
      .selectAll()
      .where('sandbox_id', '=', sandboxId)
      .executeTakeFirst();
    return row === undefined ? null : { cert: row.certificate, key: { wrapper: row.wrapper, text: row.box } };
  };
  return {
    find,
    async ensure(sandboxId, { cert, key }) {
      await kysely
        .insertInto('sandbox_authority')
        .values({ sandbox_id: sandboxId, certificate: cert, wrapper: key.wrapper, box: key.text })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const stored = await find(sandboxId);
      if (stored === null) throw new Error('the sandbox was deleted while its authority was created');
      return stored;
    },
  };
}
