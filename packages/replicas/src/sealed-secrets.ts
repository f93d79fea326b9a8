import type { KeyWrapper } from '@svc/keys';
import { databaseTime, publishEvents, type Database } from '@svc/sql';
import { sql, type Kysely, type Selectable } from 'kysely';
import type { ReplicaTables } from './tables.ts';

/** The channel of events about secrets; the id is the name. */
export const SECRET_CHANNEL = 'secret';

/** Secrets that all replicas of a database share. Only the master key comes from outside. */
export interface SealedSecrets {
  /** The content of a secret, or null. Throws KEY_NOT_OPENED if it was sealed under an unknown master key. */
  find(name: string): Promise<Buffer | null>;
  /** The contents of all secrets whose names begin with the prefix, in the order of their names. */
  list(prefix: string): Promise<readonly Buffer[]>;
  /** Returns the secret; if there is none, stores what `create` returns. Of several replicas, the first one wins. */
  ensure(name: string, create: () => Promise<Uint8Array>): Promise<Buffer>;
  /** Stores a new version, and publishes an event to all replicas. */
  put(name: string, content: Uint8Array): Promise<void>;
  /**
   * Replaces a secret by what `change` makes of its content, unless that is null, and publishes an event. Of several
   * replicas that change the same version, the first one wins. Returns whether this one did.
   */
  update(name: string, change: (content: Buffer) => Promise<Uint8Array | null>): Promise<boolean>;
  /** Removes a secret, and publishes an event. */
  remove(name: string): Promise<void>;
  /** Seals everything under the wrapper's newest key. Returns the number of secrets. */
  rewrap(): Promise<number>;
}

type SecretRow = Selectable<ReplicaTables['sealed_secret']>;

/** Creates the store on the table of migration 0111. `wrapper` wraps with the master key. */
export function createSealedSecrets(
  { kysely: given, dialect }: Pick<Database<unknown>, 'kysely' | 'dialect'>,
  wrapper: KeyWrapper,
): SealedSecrets {
  const kysely = given as Kysely<ReplicaTables>; // the platform's database has every package's tables
  const now = databaseTime(dialect);
  const open = ({ name, wrapper: id, box }: SecretRow): Promise<Buffer> =>
    wrapper.unwrap({ wrapper: id, text: box }, contextFor(name));
  const seal = async (name: string, content: Uint8Array) => {
    const { wrapper: id, text } = await wrapper.wrap(content, contextFor(name));
    return { wrapper: id, box: text, updated_at: now };
  };
  const find = async (name: string): Promise<Buffer | null> => {
    const row = await kysely.selectFrom('sealed_secret').selectAll().where('name', '=', name).executeTakeFirst();
    return row === undefined ? null : await open(row);
  };
  return {
    find,

    async list(prefix) {
      const rows = await kysely
        .selectFrom('sealed_secret')
        .selectAll()
        .where('name', 'like', `${prefix}%`)
        .orderBy('name')
        .execute();
      return await Promise.all(rows.map(open));
    },

    async ensure(name, create) {
      const known = await find(name);
      if (known !== null) return known;
      const values = await seal(name, await create());
      await kysely
        .insertInto('sealed_secret')
        .values({ name, version: 1, ...values })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const stored = await find(name);
      if (stored === null) throw new Error(`the secret ${name} was removed while it was created`);
      return stored;
    },

    async put(name, content) {
      const values = await seal(name, content);
      await kysely.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('sealed_secret')
          .values({ name, version: 1, ...values })
          .onConflict((conflict) =>
            conflict.column('name').doUpdateSet({ ...values, version: sql<number>`sealed_secret.version + 1` }),
          )
          .execute();
        await publishEvents(transaction, SECRET_CHANNEL, [name]);
      });
    },

    async update(name, change) {
      const row = await kysely.selectFrom('sealed_secret').selectAll().where('name', '=', name).executeTakeFirst();
      const changed = row === undefined ? null : await change(await open(row));
      if (row === undefined || changed === null) return false;
      const values = await seal(name, changed);
      return await kysely.transaction().execute(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('sealed_secret')
          .set({ ...values, version: row.version + 1 })
          .where('name', '=', name)
          .where('version', '=', row.version)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await publishEvents(transaction, SECRET_CHANNEL, [name]);
        return true;
      });
    },

    async remove(name) {
      await kysely.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('sealed_secret').where('name', '=', name).execute();
        await publishEvents(transaction, SECRET_CHANNEL, [name]);
      });
    },

    async rewrap() {
      const wanted = await wrapper.id();
      const rows = await kysely.selectFrom('sealed_secret').selectAll().where('wrapper', '!=', wanted).execute();
      for (const row of rows) {
        const values = await seal(row.name, await open(row));
        await kysely
          .updateTable('sealed_secret')
          .set(values)
          .where('name', '=', row.name)
          .where('version', '=', row.version) // a newer version is sealed under the newest key
          .execute();
      }
      return rows.length;
    },
  };
}

/** Binds a box to its name. */
function contextFor(name: string): string {
  return `secret:${name}`;
}
