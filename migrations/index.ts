import type { Migration } from '@svc/sql';

/** Every migration, imported by name so that a bundle carries them all. Each file exports one `Migration`. */
export const migrations: readonly Migration[] = [];
