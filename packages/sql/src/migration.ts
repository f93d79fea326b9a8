import type { Kysely } from 'kysely';
import type { Dialect } from './database.ts';

/** A schema change. */
export interface Migration {
  /** `NNNN-what`, zero-padded; migrations run in order of their names. */
  readonly name: string;
  /**
   * `platform` tables live in the main database. `objects` tables live in the object store's own SQLite file, whose
   * single writer groups commits; on PostgreSQL both are the same database.
   */
  readonly target: 'platform' | 'objects';
  /**
   * Declares that the migration contracts: it removes or restricts something that earlier versions use. Names the
   * migration of the version that stopped using it; versions that do not know that one are refused from then on. A
   * migration without it must leave earlier versions working (decision 0048).
   */
  readonly contractsAfter?: string;
  up(database: Kysely<unknown>, dialect: Dialect): Promise<void>;
}
