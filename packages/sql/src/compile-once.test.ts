import { describeDialects } from '@svc/testing';
import { CamelCasePlugin, sql, type Kysely } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { compileOnce } from './compile-once.ts';

interface Tables {
  pet: { petId: string; ownerId: string; nickName: string };
}

describeDialects<Tables>('a query that is compiled once', [], (database) => {
  let kysely: Kysely<Tables>;
  beforeEach(async () => {
    kysely = database().kysely.withPlugin(new CamelCasePlugin());
    await sql`create table pet (pet_id text primary key, owner_id text not null, nick_name text not null)`.execute(
      kysely,
    );
    await kysely
      .insertInto('pet')
      .values([
        { petId: 'a', ownerId: 'ann', nickName: 'rex' },
        { petId: 'b', ownerId: 'bob', nickName: 'rex' },
        { petId: 'c', ownerId: 'bob', nickName: 'tom' },
      ])
      .execute();
  });

  it('binds the value of each call, wherever it occurs, and keeps constants', async () => {
    let builds = 0;
    const find = compileOnce(kysely, (name) => {
      builds += 1;
      const query = kysely.selectFrom('pet').selectAll().where('nickName', '=', 'rex');
      return query.where(({ eb, or }) => or([eb('ownerId', '=', name), eb('petId', '=', name)]));
    });
    expect(await find('ann')).toEqual([{ petId: 'a', ownerId: 'ann', nickName: 'rex' }]);
    expect(await find('b')).toEqual([{ petId: 'b', ownerId: 'bob', nickName: 'rex' }]);
    expect(await find('c')).toEqual([]);
    expect(builds).toBe(1);
  });

  it('binds values of concurrent calls to their own results', async () => {
    const find = compileOnce(kysely, (id) => kysely.selectFrom('pet').select('petId').where('petId', '=', id));
    const found = await Promise.all(['a', 'b', "' or true --", 'c'].map((id) => find(id)));
    expect(found).toEqual([[{ petId: 'a' }], [{ petId: 'b' }], [], [{ petId: 'c' }]]);
  });
});
