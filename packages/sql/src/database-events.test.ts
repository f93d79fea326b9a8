import { describeDialects, waitFor } from '@svc/testing';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { publishEvents } from './database-events.ts';
import { openDatabase, type Database } from './database.ts';
import { EventWorker } from './event-worker.ts';
import type { Migration } from './migration.ts';

interface Tables {
  fruit: { name: string };
}

const migrations: Migration[] = [
  {
    name: '0001-fruit',
    target: 'platform',
    up: (kysely) => kysely.schema.createTable('fruit').addColumn('name', 'text').execute(),
  },
];

/** Records what a subscriber hears. */
async function listen(database: Database<Tables>, channel = 'fruit') {
  const heard: string[] = [];
  let misses = 0;
  const end = database.events.subscribe(channel, {
    onEvent: (id) => void heard.push(id),
    onMissed: () => void (misses += 1),
  });
  await waitFor(() => misses > 0, { description: 'the beginning of the subscription' });
  return { heard, end, misses: () => misses };
}

/** An event that arrives after all earlier ones. */
async function settle(database: Database<Tables>, heard: readonly string[]): Promise<void> {
  await publishEvents(database.kysely, 'fruit', ['last']);
  await waitFor(() => heard.includes('last'), { description: 'the last event' });
}

describeDialects<Tables>('database events', migrations, (database, dialect) => {
  it('arrive after the commit, once for each id', async () => {
    const { heard } = await listen(database());
    await database()
      .kysely.transaction()
      .execute(async (transaction) => {
        await transaction.insertInto('fruit').values({ name: 'apple' }).execute();
        await publishEvents(transaction, 'fruit', ['apple', 'pear']);
        await publishEvents(transaction, 'fruit', ['apple']);
        expect(heard).toEqual([]);
      });
    await settle(database(), heard);
    expect(heard).toEqual(['apple', 'pear', 'last']);
  });

  it('do not arrive from a transaction that is rolled back', async () => {
    const { heard } = await listen(database());
    const failing = database()
      .kysely.transaction()
      .execute(async (transaction) => {
        await publishEvents(transaction, 'fruit', ['apple']);
        throw new Error('changed my mind');
      });
    await expect(failing).rejects.toThrow('changed my mind');
    await settle(database(), heard);
    expect(heard).toEqual(['last']);
  });

  it('reach only the subscribers of their channel, and none after the end of a subscription', async () => {
    const fruit = await listen(database());
    const other = await listen(database(), 'vegetable');
    const ended = await listen(database());
    ended.end();
    await publishEvents(database().kysely, 'vegetable', ['leek']);
    await settle(database(), fruit.heard);
    expect([fruit.heard, other.heard, ended.heard]).toEqual([['last'], ['leek'], []]);
  });

  it('reach the other subscribers if one of them throws', async () => {
    database().events.subscribe('fruit', {
      onEvent: () => {
        throw new Error('broken');
      },
      onMissed: () => undefined,
    });
    const { heard } = await listen(database());
    await settle(database(), heard);
    expect(heard).toEqual(['last']);
  });

  it('may be more than fit in one statement', async () => {
    const { heard } = await listen(database());
    const ids = Array.from({ length: 1_200 }, (_each, index) => `id-${index}`);
    await database()
      .kysely.transaction()
      .execute((transaction) => publishEvents(transaction, 'fruit', ids));
    await settle(database(), heard);
    expect(heard).toEqual([...ids, 'last']);
  });

  it('carry only ids, and only on channels with a plain name', async () => {
    const { kysely } = database();
    await expect(publishEvents(kysely, 'fruit', ['a secret: "x"'])).rejects.toThrow('an event of fruit is not an id');
    await expect(publishEvents(kysely, 'fruit', ['a'.repeat(201)])).rejects.toThrow(RangeError);
    await expect(publishEvents(kysely, 'fruit"; drop', ['a'])).rejects.toThrow(RangeError);
    expect(() => database().events.subscribe('Fruit', { onEvent: () => undefined, onMissed: () => undefined })).toThrow(
      RangeError,
    );
  });

  describe('a worker', () => {
    it('works on ids one at a time, on everything when it begins and when too many wait', async () => {
      const done: string[] = [];
      const gates: (() => void)[] = [];
      const errors: unknown[] = [];
      const step = (name: string): Promise<void> => {
        done.push(name);
        return new Promise((resolve) => gates.push(resolve));
      };
      const worker = new EventWorker({
        events: database().events,
        channel: 'fruit',
        work: step,
        workOnAll: () => step('all'),
        onError: (error) => void errors.push(error),
        maxWaiting: 2,
      });
      await waitFor(() => done.length === 1);
      const { heard } = await listen(database());
      await publishEvents(database().kysely, 'fruit', ['apple']);
      await publishEvents(database().kysely, 'fruit', ['apple', 'pear']);
      await waitFor(() => heard.length === 3);
      gates[0]?.();
      await waitFor(() => done.length === 2);
      await publishEvents(database().kysely, 'fruit', ['fig', 'kiwi']);
      await waitFor(() => heard.length === 5);
      gates[1]?.();
      await waitFor(() => done.length === 3);
      expect(done).toEqual(['all', 'apple', 'all']);
      gates[2]?.();
      await worker.close();
      expect(errors).toEqual([]);
    });

    it('continues after a failure', async () => {
      const done: string[] = [];
      const errors: string[] = [];
      const worker = new EventWorker({
        events: database().events,
        channel: 'fruit',
        work: async (id) => {
          if (id === 'bad') throw new Error('it is bad');
          done.push(id);
        },
        workOnAll: async () => void done.push('all'),
        onError: (error) => void errors.push(String(error)),
      });
      await waitFor(() => done.length === 1);
      await publishEvents(database().kysely, 'fruit', ['bad', 'good']);
      await waitFor(() => done.length === 2);
      expect([done, errors]).toEqual([['all', 'good'], ['Error: it is bad']]);
      await worker.close();
    });
  });

  if (dialect === 'sqlite') return; // one process has it

  describe('between processes', () => {
    let second: Database<Tables> | undefined;
    afterEach(async () => {
      await second?.close();
      second = undefined;
    });

    it('reach another process, which is told after a lost connection that it may have missed some', async () => {
      const faults: unknown[] = [];
      const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database().kysely);
      const url = new URL(process.env['SVC_TEST_POSTGRES_URL'] ?? '');
      url.pathname = `/${rows[0]?.name ?? ''}`;
      second = openDatabase<Tables>({ url: url.href, onEventsFault: (error) => void faults.push(error) });
      const { heard, misses } = await listen(second);
      const other = await listen(second, 'vegetable');
      await settle(database(), heard);
      expect(second.events.isListening).toBe(true);

      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'svc events' and datname = current_database()`.execute(database().kysely);
      await waitFor(() => misses() === 2 && other.misses() === 2, { description: 'both subscribers are told' });
      expect(faults).toHaveLength(1);
      await publishEvents(database().kysely, 'vegetable', ['leek']);
      await waitFor(() => other.heard.includes('leek'));
    });

    it('come from many subscriptions that begin at once, without a warning of the driver', async () => {
      await listen(database()); // from here on, each subscription listens on the open connection
      const warnings: string[] = [];
      const note = ({ message }: Error): void => void warnings.push(message);
      process.on('warning', note);
      try {
        const channels = ['pear', 'plum', 'fig', 'kiwi', 'lime'];
        await Promise.all(channels.map((channel) => listen(database(), channel)));
      } finally {
        process.off('warning', note);
      }
      expect(warnings).toEqual([]);
    });

    it('leave no connection after close', async () => {
      await listen(database());
      await database().events.close();
      const { rows } = await sql`select pid from pg_stat_activity
        where application_name = 'svc events' and datname = current_database()`.execute(database().kysely);
      expect(rows).toEqual([]);
      expect(database().events.isListening).toBe(false);
    });
  });
});
