import { defineErrors } from '@svc/errors';

export const sqlErrors = defineErrors({
  SCHEMA_NEWER: [
    500,
    'The database was written by a newer version (migration {name} is unknown here); start that version or restore a backup',
  ],
  MIGRATION_CHANGED: [500, 'Migration {name} was changed after it ran (checksum {found}, expected {expected})'],
  MIGRATION_ORDER: [500, 'Migration {name} is missing in the database although a later one ran'],
});
