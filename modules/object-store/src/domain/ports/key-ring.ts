/** A key-encryption key of the store, wrapped by what the configuration names. */
export interface StoreKey {
  /** Counts from 1; the highest is the one that seals. */
  id: number;
  wrapper: string;
  wrapped: string;
  createdAtMs: number;
  /** Nothing new may be sealed under it. */
  closed: boolean;
}

/** The kinds of rows that hold something sealed. */
export const SEALED_KINDS = ['object', 'upload', 'access-key', 'certificate', 'acme-account', 'notification'] as const;

export type SealedKind = (typeof SEALED_KINDS)[number];

export type RowKey = readonly (string | number)[];

export interface SealedRow {
  /** The row's primary key. */
  key: RowKey;
  /** The column that holds something sealed, as it is stored. */
  body: string;
}

export interface KeyRingCommands {
  /** False when there is a key of this id. */
  addStoreKey(input: { id: number; wrapper: string; wrapped: string; nowMs: number }): Promise<boolean>;
  /** False when the key was wrapped anew meanwhile. */
  rewrapStoreKey(input: { id: number; from: string; wrapper: string; wrapped: string }): Promise<boolean>;
  /** From now on a command that brings something sealed under a key below `id` is refused with `KeyClosed`. */
  closeStoreKeys(input: { below: number }): Promise<void>;
  /** Only closed keys go. */
  removeStoreKeys(input: { below: number }): Promise<void>;
  /** Replaces each body that is still what was read. Answers how many were. */
  replaceSealed(input: {
    kind: SealedKind;
    rows: readonly { key: RowKey; from: string; to: string }[];
    nowMs: number;
  }): Promise<number>;
}

export interface KeyRingQueries {
  /** In order of id. */
  storeKeys(input: Record<string, never>): Promise<readonly StoreKey[]>;
  /** Rows of one kind in order of their primary key, sealed or not; `after` null: from the start. */
  sealedRows(input: { kind: SealedKind; after: RowKey | null; limit: number }): Promise<readonly SealedRow[]>;
}

/** The id of the store's key that something is sealed under; 0: the master key itself; null: no key of the store. */
export function storeKeyOf(sealed: string): number | null {
  if (sealed.startsWith('v1:')) return 0;
  const match = /^v2:(\d{1,9}):/.exec(sealed);
  return match === null ? null : Number(match[1]);
}
