import { defineErrors } from '@svc/errors';

/** Errors of opening, migrating or querying a database. Each is one line with the cause and the remedy. */
export const sqlErrors = defineErrors({
  SCHEMA_NEWER: [
    500,
    'The database was written by a newer version (migration {name} is unknown here); start that version or restore a backup',
  ],
  MIGRATION_CHANGED: [500, 'Migration {name} was changed after it ran (checksum {found}, expected {expected})'],
  MIGRATION_ORDER: [500, 'Migration {name} is missing in the database although a later one ran'],
  INVALID_TEXT: [400, 'Text must not contain NUL (U+0000); remove it'],
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
