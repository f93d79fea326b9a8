import type { GrantedAccess } from '@svc/access';
import { sql, type Kysely } from 'kysely';
import type { AccessRecord, AccessRepository } from '../domain/access/access-tokens.ts';
import type { SandboxAccessRepository } from '../domain/access/sandbox-access.ts';
import type { SandboxTables } from './tables.ts';

/** The tables of records, and the column that names the sandbox or the volume. */
const SUBJECTS = { sandbox_access: 'sandbox_id', sandbox_volume_access: 'volume_id' } as const;

interface Row {
  readonly id: string;
  readonly subject_id: string;
  readonly granted: string;
}

/** Stores what tokens of volumes were granted. */
export function createVolumeAccessRepository(kysely: Kysely<SandboxTables>): AccessRepository {
  return createRepository(kysely, 'sandbox_volume_access');
}

/** Stores what tokens of sandboxes were granted. */
export function createSandboxAccessRepository(kysely: Kysely<SandboxTables>): SandboxAccessRepository {
  const columns = ['sandbox_access.id', 'sandbox_access.sandbox_id as subject_id', 'sandbox_access.granted'] as const;
  return {
    ...createRepository(kysely, 'sandbox_access'),
    async ofSandbox(sandboxId) {
      const query = kysely.selectFrom('sandbox_access').select(columns).where('sandbox_id', '=', sandboxId);
      return (await query.execute()).map(fromRow);
    },
    async hasAny(sandboxId) {
      const query = kysely.selectFrom('sandbox_access').select('id').where('sandbox_id', '=', sandboxId).limit(1);
      return (await query.executeTakeFirst()) !== undefined;
    },
    async ofRunning(after, limit) {
      const rows = await kysely
        .selectFrom('sandbox_access')
        .innerJoin('sandbox', 'sandbox.id', 'sandbox_access.sandbox_id')
        .select(columns)
        .where('sandbox.status', '=', 'running')
        .where('sandbox.removed_at', 'is', null)
        .where('sandbox_access.id', '>', after)
        .orderBy('sandbox_access.id')
        .limit(limit)
        .execute();
      return rows.map(fromRow);
    },
  };
}

function createRepository(kysely: Kysely<SandboxTables>, name: keyof typeof SUBJECTS): AccessRepository {
  const [table, subject] = [sql.table(name), sql.ref(SUBJECTS[name])];
  return {
    async ensure({ id, subjectId, granted }, holder, now) {
      await sql`insert into ${table} (id, ${subject}, holder, granted, created_at)
        values (${id}, ${subjectId}, ${holder}, ${JSON.stringify(granted)}, ${now})
        on conflict (${subject}, holder) do nothing`.execute(kysely);
      const stored = sql<
        Pick<Row, 'id'>
      >`select id from ${table} where ${subject} = ${subjectId} and holder = ${holder}`;
      const { rows } = await stored.execute(kysely);
      const [row] = rows;
      if (row === undefined) throw new Error('a record of granted access was removed with its subject');
      return row.id;
    },
    async find(id) {
      const found = sql<Row>`select id, ${subject} as subject_id, granted from ${table} where id = ${id}`;
      const { rows } = await found.execute(kysely);
      const [row] = rows;
      return row === undefined ? null : fromRow(row);
    },
  };
}

function fromRow({ id, subject_id: subjectId, granted }: Row): AccessRecord {
  return { id, subjectId, granted: JSON.parse(granted) as GrantedAccess }; // written by ensure
}
