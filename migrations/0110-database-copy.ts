import type { Migration } from '@svc/sql';

/**
 * While this database is filled from another one: one row for each table, with what is done. A platform does not start on
 * such a database. After that one row, `*`: in PostgreSQL it says that the copy is done, in a SQLite file that its content
 * was moved.
 */
export const databaseCopy: Migration = {
  name: '0110-database-copy',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('database_copy')
      .addColumn('table_name', 'text', (column) => column.primaryKey())
      .addColumn('source', 'text', (column) => column.notNull())
      // JSON: the primary key of the last row that was copied.
      .addColumn('position', 'text')
      .addColumn('finished', 'integer', (column) => column.notNull())
      // JSON: the table's foreign keys, dropped until everything is copied.
      .addColumn('foreign_keys', 'text', (column) => column.notNull())
      .execute();
  },
};
