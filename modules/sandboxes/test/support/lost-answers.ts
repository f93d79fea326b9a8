import { sqlErrors, type Database } from '@svc/sql';

/**
 * The same database over a connection that breaks: the transaction after which `isLost` returns true is committed, but its
 * caller does not learn that.
 */
export function withLostAnswers<Tables>(database: Database<Tables>, isLost: () => Promise<boolean>): Database<Tables> {
  const { kysely } = database;
  const transaction = (): unknown => ({
    execute: async (work: Parameters<ReturnType<typeof kysely.transaction>['execute']>[0]) => {
      const result = await kysely.transaction().execute(work);
      if (await isLost()) throw sqlErrors.DATABASE_UNAVAILABLE();
      return result;
    },
  });
  const lossy = new Proxy(kysely, {
    get: (target, name) => {
      if (name === 'transaction') return transaction;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { ...database, kysely: lossy };
}
