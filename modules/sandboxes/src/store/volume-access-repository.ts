import type { GrantedAccess } from '@svc/access';
import type { Kysely } from 'kysely';
import type { VolumeAccessRepository } from '../domain/access/volume-access.ts';
import type { SandboxTables } from './tables.ts';

export function createVolumeAccessRepository(kysely: Kysely<SandboxTables>): VolumeAccessRepository {
  return {
    async ensure({ id, volumeId, granted }, holder, now) {
      await kysely
        .insertInto('sandbox_volume_access')
        .values({ id, volume_id: volumeId, holder, granted: JSON.stringify(granted), created_at: now })
        .onConflict((conflict) => conflict.columns(['volume_id', 'holder']).doNothing())
        .execute();
      const stored = await kysely
        .selectFrom('sandbox_volume_access')
        .select('id')
        .where('volume_id', '=', volumeId)
        .where('holder', '=', holder)
        .executeTakeFirstOrThrow();
      return stored.id;
    },
    async find(id) {
      const row = await kysely.selectFrom('sandbox_volume_access').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return null;
      // Written by ensure.
      return { id: row.id, volumeId: row.volume_id, granted: JSON.parse(row.granted) as GrantedAccess };
    },
  };
}
