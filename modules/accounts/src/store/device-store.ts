import type { Kysely } from 'kysely';
import type { DeviceStore } from '../domain/stores.ts';
import type { AccountTables } from './tables.ts';

export function createDeviceStore(kysely: Kysely<AccountTables>): DeviceStore {
  return {
    async isKnown(userId, tokenHash) {
      const row = await kysely
        .selectFrom('accountDevice')
        .select('userId')
        .where('tokenHash', '=', tokenHash)
        .where('userId', '=', userId)
        .executeTakeFirst();
      return row !== undefined;
    },
    async put(device) {
      await kysely
        .insertInto('accountDevice')
        .values(device)
        .onConflict((conflict) =>
          conflict.column('tokenHash').doUpdateSet({ userId: device.userId, lastSeenAt: device.lastSeenAt }),
        )
        .execute();
    },
    async trim(userId, keep) {
      const kept = kysely
        .selectFrom('accountDevice')
        .select('tokenHash')
        .where('userId', '=', userId)
        .orderBy('lastSeenAt', 'desc')
        .orderBy('tokenHash')
        .limit(keep);
      await kysely
        .deleteFrom('accountDevice')
        .where('userId', '=', userId)
        .where('tokenHash', 'not in', kept)
        .execute();
    },
    async deleteOfUser(userId) {
      await kysely.deleteFrom('accountDevice').where('userId', '=', userId).execute();
    },
    async deleteUnseenSince(before, limit) {
      const old = kysely.selectFrom('accountDevice').select('tokenHash').where('lastSeenAt', '<', before).limit(limit);
      return Number(
        (await kysely.deleteFrom('accountDevice').where('tokenHash', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
