import type { BlobId, BlobPlace } from '../../../domain/ports/blob-store.ts';

const RANDOM_BYTES = 16;
/** `<workspace>/<bucket>/<random>` for ids created here; only the random part for blobs from another engine. */
const ID = /^(?:[0-9a-f-]{36}\/[0-9a-z]{1,11}\/)?[0-9a-f]{32}$/;
/** The place of blobs created without one. */
const NOWHERE: BlobPlace = { workspaceUuid: '00000000-0000-0000-0000-000000000000', bucketId: 0 };

export function newBlobId(random: (size: number) => Buffer, place: BlobPlace = NOWHERE): BlobId {
  return `${place.workspaceUuid}/${place.bucketId.toString(36)}/${random(RANDOM_BYTES).toString('hex')}`;
}

export function isBlobId(text: string): boolean {
  return ID.test(text);
}

/** A blob's key is a prefix plus its id, so any tool can move blobs between engines. */
export class BlobKeys {
  readonly blobs: string;
  readonly quarantine: string;

  constructor(prefix: string) {
    const root = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
    this.blobs = `${root}blobs/`;
    this.quarantine = `${root}quarantine/`;
  }

  keyOf(id: BlobId): string {
    return this.blobs + checked(id);
  }

  quarantineKeyOf(id: BlobId): string {
    return this.quarantine + checked(id);
  }

  /** Returns null for a foreign object. */
  parseId(key: string): BlobId | null {
    const id = key.slice(this.blobs.length);
    return key.startsWith(this.blobs) && isBlobId(id) ? id : null;
  }
}

/** Ids come from our own rows. A malformed one is a bug and must never become a key. */
function checked(id: BlobId): BlobId {
  if (!isBlobId(id)) throw new Error('a blob id is malformed');
  return id;
}
