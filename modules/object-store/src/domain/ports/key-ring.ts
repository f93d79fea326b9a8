/** A key-encryption key of the store, wrapped as configured. */
export interface StoreKey {
  /** Starts at 1. The highest one seals. */
  id: number;
  wrapper: string;
  wrapped: string;
  createdAtMs: number;
  /** Nothing new can be sealed under it. */
  closed: boolean;
}

/** The kinds of rows that hold sealed data. */
export const SEALED_KINDS = ['object', 'upload', 'access-key', 'certificate', 'acme-account', 'notification'] as const;

/** A kind of row that holds sealed data. */
export type SealedKind = (typeof SEALED_KINDS)[number];

/** The columns of a primary key, in order. */
export type RowKey = readonly (string | number)[];

/** A row that may hold sealed data. */
export interface SealedRow {
  /** The row's primary key. */
  key: RowKey;
  /** The column with sealed data, as stored. */
  body: string;
}

/** A property: set while rows may exist that a fork copied with a closed key behind the rotation's position. */
export const COPIED_CLOSED_KEY = 'copied-closed-key';

/** Commands on the store's key ring. */
export interface KeyRingCommands {
  /** False if a key with this id exists. */
  addStoreKey(input: { id: number; wrapper: string; wrapped: string; nowMs: number }): Promise<boolean>;
  /** False if the key was rewrapped in the meantime. */
  rewrapStoreKey(input: { id: number; from: string; wrapper: string; wrapped: string }): Promise<boolean>;
  /** From now on, commands with data sealed under a key below `id` throw `KeyClosed`. */
  closeStoreKeys(input: { below: number }): Promise<void>;
  /** Removes closed keys. False, without removing any, while the property `COPIED_CLOSED_KEY` is set. */
  removeStoreKeys(input: { below: number }): Promise<boolean>;
  /** Replaces each body that has not changed since it was read. Returns the number replaced. */
  replaceSealed(input: {
    kind: SealedKind;
    rows: readonly { key: RowKey; from: string; to: string }[];
    nowMs: number;
  }): Promise<number>;
}

/** Queries of the store's key ring. */
export interface KeyRingQueries {
  /** By id. */
  storeKeys(input: Record<string, never>): Promise<readonly StoreKey[]>;
  /** Rows of one kind by primary key, sealed or not. Starts at the beginning if `after` is null. */
  sealedRows(input: { kind: SealedKind; after: RowKey | null; limit: number }): Promise<readonly SealedRow[]>;
}

/**
 * Id of the store key that a text is sealed under. 0 is the master key itself. Null if it is not sealed under a store
 * key.
 */
export function parseStoreKey(sealed: string): number | null {
  if (sealed.startsWith('v1:')) return 0;
  const match = /^v2:(\d{1,9}):/.exec(sealed);
  return match === null ? null : Number(match[1]);
}
