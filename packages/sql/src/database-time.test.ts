import { describeDialects } from '@svc/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { databaseTime } from './database-time.ts';

describeDialects<unknown>('the time of a database', [], (database, dialect) => {
  const read = async (...offsetsMs: number[]): Promise<string[]> => {
    const times = offsetsMs.map((offsetMs, index) => databaseTime(dialect, offsetMs).as(`t${index}`));
    const { rows } = await sql<Record<string, string>>`select ${sql.join(times)}`.execute(database().kysely);
    return Object.values(rows[0] ?? {});
  };

  it('is ISO 8601 in UTC with milliseconds, so that its text sorts by time', async () => {
    const [now = ''] = await read(0);
    expect(new Date(now).toISOString()).toBe(now);
  });

  it('adds and subtracts an offset', async () => {
    const [earlier = '', now = '', later = ''] = await read(-1_500, 0, 10_000);
    const apart = (left: string, right: string) => Date.parse(right) - Date.parse(left);
    // SQLite reads one time per statement, PostgreSQL one per call.
    expect(Math.round(apart(earlier, now) / 500)).toBe(3);
    expect(Math.round(apart(now, later) / 500)).toBe(20);
  });
});
