import { migrations } from '@svc/migrations';
import { assertNoOlderReplicas, createReplicaStore, type ReplicaClaim, type ReplicaTables } from '@svc/replicas';
import { assertCompatible, migrate, type Database, type Migration } from '@svc/sql';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';

const moved: Migration = { name: '8000-moved', target: 'platform', up: async () => undefined };
const contracting: Migration = {
  name: '9000-contract',
  target: 'platform',
  contractsAfter: moved.name,
  up: async (kysely) => {
    await kysely.schema.dropTable('account_quota_override').execute();
  },
};
const older: ReplicaClaim = {
  id: 'old-1',
  bootId: 'boot-1',
  place: 'machine-1',
  url: null,
  host: 'one',
  version: '1',
  newestMigration: '7000-earlier',
};

describeDialects<ReplicaTables>('a migration that contracts', migrations, (database, dialect) => {
  const replicas = () => createReplicaStore(database() as Database<unknown>);
  const contract = (place: string | null = 'machine-9') =>
    migrate(database(), [...migrations, moved, contracting], {
      beforeContraction: (contraction, transaction) =>
        assertNoOlderReplicas(transaction, contraction, { dialect, place }),
    });
  const newest = async (): Promise<string | undefined> =>
    (await migrate(database(), [...migrations, moved, contracting])).at(-1);

  it('is refused while replicas run that do not know what it requires, and names them', async () => {
    await replicas().claim(older);
    await replicas().claim({ ...older, id: 'old-2', place: null, url: 'https://10.0.0.2:4300' });
    await replicas().claim({ ...older, id: 'new', newestMigration: moved.name });
    await database().kysely.updateTable('replica').set({ newest_migration: null }).where('id', '=', 'old-2').execute();
    const refusal = await contract().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'REPLICAS_TOO_OLD',
      details: { name: '9000-contract', required: '8000-moved' },
      message: expect.stringMatching(
        /: old-1 \(version 1, since .*\), old-2 \(version 1, at https:\/\/10\.0\.0\.2:4300, since .*\)\. Replace them/,
      ),
    });
    expect(await newest()).toBe('9000-contract'); // it did not run before
  });

  it('runs beside replicas that know what it requires', async () => {
    await replicas().claim({ ...older, newestMigration: moved.name });
    expect(await contract()).toEqual([moved.name, contracting.name]);
  });

  it('runs after older replicas have ended', async () => {
    await replicas().claim(older);
    await replicas().release(older.id, older.bootId);
    expect(await contract()).toEqual([moved.name, contracting.name]);
  });

  it('does not wait for the killed process whose data folder this one has locked', async () => {
    await replicas().claim(older);
    expect(await contract(older.place)).toEqual([moved.name, contracting.name]);
  });

  it('never takes two unknown data folders for the same one', async () => {
    await replicas().claim({ ...older, place: null });
    await expect(contract(null)).rejects.toMatchObject({ code: 'REPLICAS_TOO_OLD' });
  });

  it('sees a replica that starts at the same time, or is seen by it', async () => {
    const start = async (): Promise<void> => {
      await migrate(database(), migrations); // an older version: the schema may contract from here on
      await replicas().claim(older);
      await assertCompatible(database(), migrations);
    };
    const outcomes = await Promise.allSettled([start(), contract()]);
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'));
    expect([
      ['done', 'REPLICAS_TOO_OLD'],
      ['SCHEMA_NEWER', 'done'],
    ]).toContainEqual(codes);
  });
});
