export { openDatabase, type Database, type DatabaseLocation, type Dialect } from './database.ts';
export { checksumOf, migrate, type Migration } from './migrate.ts';
export { openSqliteFile, SQLITE_PRAGMAS } from './sqlite-dialect.ts';
