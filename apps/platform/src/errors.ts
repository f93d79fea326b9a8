import { defineErrors } from '@svc/errors';

/**
 * Errors that prevent the platform from starting, or refuse a request to it. Each names the cause and the remedy in one
 * line.
 */
export const startErrors = defineErrors({
  DATA_FOLDER_NOT_WRITABLE: [500, 'the data folder {path} is not writable ({reason}); choose another with --data DIR'],
  DATA_FOLDER_IN_USE: [
    500,
    'the data folder {path} is in use by another svc process{holder}; stop it or choose another with --data DIR',
  ],
  DISK_FULL: [500, 'the disk that holds {path} is full; free some space and start again'],
  PORT_IN_USE: [500, 'port {port} on {host} is in use; choose another with {flag} (0 = any free one)'],
  PORTS_IN_USE: [500, '{ports} are in use; choose others with {flags} (0 = any free one)'],
  PORT_NOT_ALLOWED: [500, 'port {port} on {host} cannot be opened ({reason}); choose another with {flag}'],
  HOST_UNKNOWN: [500, '{host} is not an address of this machine; choose another with --host'],
  NO_PLATFORM_THERE: [500, 'no platform has been started on {path}; pass its data folder with --data DIR'],
  DATA_FOLDER_NOT_EMPTY: [409, 'the data folder {path} is not empty; restore into a new one with --data DIR'],
  NO_BACKUP_THERE: [404, 'no complete backup found in {path}'],
  KEY_SERVICE_NOT_CONFIGURED: [
    500,
    'object_store.key_service.kind is vault-transit, but object_store.key_service.vault.{name} is not set',
  ],
  BACKUP_UNKNOWN: [400, 'the backup {path} was made by a newer svc'],
  DATABASE_NOT_MOVED: [
    409,
    'database.url (SVC_DATABASE_URL) names an empty database, but {path} holds an installation in SQLite; move it with svc migrate sqlite-to-postgres, or begin a new installation in an empty data folder with --data DIR',
  ],
  DATABASE_MOVED_ELSEWHERE: [
    409,
    'database.url (SVC_DATABASE_URL) names an empty database, but the installation of {path} was moved to another one; correct database.url, or begin a new installation in an empty data folder with --data DIR',
  ],
  MOVE_NEEDS_URL: [400, 'set database.url (SVC_DATABASE_URL) to the empty PostgreSQL database to move to'],
  HTTPS_REQUIRED: [403, 'Plain HTTP is off on this platform; use {url}'],
  INVALID_LIMIT: [
    400,
    '{text} is not a limit of {quota}: write a whole number, a size such as 10GiB for bytes, or unlimited',
  ],
  MASTER_KEY_IN_USE: [
    409,
    'the master key still seals {rows} rows of the object store itself; run svc admin rotate-keys, wait until svc admin keys shows one key, then run svc admin rotate-keys --master again',
  ],
  DATABASE_DAMAGED: [500, 'the database {path} cannot be read ({reason}); restore a backup'],
});
