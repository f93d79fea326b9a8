import { defineErrors } from '@svc/errors';

/** Errors of opening, migrating or querying a database. Each is one line with the cause and the remedy. */
export const sqlErrors = defineErrors({
  SCHEMA_NEWER: [
    500,
    'The database was changed by a newer version: since migration {name}, only versions that know migration {required} can use it; start such a version or restore a backup',
  ],
  SCHEMA_AHEAD: [
    409,
    'The database has migration {name}, which this version does not know, so this command would miss data; run it with the version that wrote the database',
  ],
  SCHEMA_DIVERGED: [
    500,
    'Migration {name} ran in the database but is unknown here, although this version knows later ones; start the version that wrote the database',
  ],
  MIGRATION_CHANGED: [500, 'Migration {name} was changed after it ran (checksum {found}, expected {expected})'],
  MIGRATION_ORDER: [500, 'Migration {name} is missing in the database although a later one ran'],
  INVALID_TEXT: [400, 'Text must not contain NUL (U+0000); remove it'],
  DATABASE_URL_INVALID: [500, 'database.url is not usable: {reason}'],
  DATABASE_NOT_PRIMARY: [
    503,
    'The PostgreSQL server {location} does not accept writes, which target_session_attrs requires',
  ],
  DATABASE_COPY_UNFINISHED: [
    409,
    'The database {location} is incomplete, because a restore or move into it has not finished; run that command again, or use an empty database',
  ],
  DATABASE_MOVED: [409, 'The content of {location} was moved to PostgreSQL; set database.url to that database'],
  COPY_TARGET_NOT_EMPTY: [409, 'The table {table} of {location} has rows; copy into an empty database'],
  COPY_OTHER_SOURCE: [409, 'A copy from another source into {location} is not finished; use an empty database'],
  COPY_LAYOUT: [500, 'The table {table} differs between the two databases ({reason})'],
  COPY_FAILED: [500, 'The table {table} could not be copied ({reason})'],
  COPY_DIFFERS: [
    500,
    'After the copy, the table {table} has {found} rows with checksum {found_checksum} instead of {expected} with {expected_checksum}; repeat the copy into an empty database',
  ],
  DATABASE_NOT_NAMED: [500, 'Set the URL or the file of the database'],
  DATABASE_DAMAGED: [500, 'The database {location} is damaged ({reason}); restore a backup'],
  DATABASE_READ_ONLY: [500, 'The database {location} cannot be written ({reason})'],
  DATABASE_NOT_FOUND: [500, 'The database {location} cannot be opened ({reason})'],
  DATABASE_BUSY: [503, 'The database {location} is held by another process ({reason})'],
  DATABASE_FULL: [500, 'The disk of the database {location} is full ({reason})'],
  DATABASE_UNREACHABLE: [503, 'The database {location} cannot be reached ({reason})'],
  DATABASE_UNAVAILABLE: [503, 'The database is unavailable; try again'],
  SCHEMA_CHANGED: [503, 'The schema of the database changed during the request; try again'],
  DATABASE_REFUSED: [500, 'The database {location} refuses the connection ({reason})'],
});
