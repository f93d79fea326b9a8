import { join } from 'node:path';
import type { BlobId } from '../../../domain/ports/blob-store.ts';

/** 4,096 folders, with a few thousand files each at ten million blobs. */
const SHARD_DIGITS = 3;
const ID_DIGITS = 32;
/** An id imported from another engine starts with its workspace and bucket. */
const ID = /^(?:[0-9a-f-]{36}\/[0-9a-z]{1,11}\/)?[0-9a-f]{32}$/;
const SHARD = /^[0-9a-f]{3}$/;

/**
 * Paths below the engine's folder: `blobs/<first digits of the id>/<id>`, `unsealed/<id>`, `quarantine/<id>`. Slashes
 * in an id become dots in its file name.
 */
export interface Layout {
  readonly root: string;
  readonly blobs: string;
  readonly unsealed: string;
  readonly quarantine: string;
  /** The file with the identity of this folder. */
  readonly folderId: string;
  shardFolder(id: BlobId): string;
  blobFile(id: BlobId): string;
  unsealedFile(id: BlobId): string;
  quarantineFile(id: BlobId): string;
}

export function createLayout(root: string): Layout {
  const blobs = join(root, 'blobs');
  const unsealed = join(root, 'unsealed');
  const quarantine = join(root, 'quarantine');
  const shardFolder = (id: BlobId) => join(blobs, checked(id).slice(-ID_DIGITS).slice(0, SHARD_DIGITS));
  return {
    root,
    blobs,
    unsealed,
    quarantine,
    folderId: join(root, 'folder-id'),
    shardFolder,
    blobFile: (id) => join(shardFolder(id), fileNameOf(id)),
    unsealedFile: (id) => join(unsealed, fileNameOf(id)),
    quarantineFile: (id) => join(quarantine, fileNameOf(id)),
  };
}

/** Returns null for a foreign file. */
export function parseBlobId(fileName: string): BlobId | null {
  const id = fileName.replaceAll('.', '/');
  return ID.test(id) ? id : null;
}

export function isShard(text: string): boolean {
  return SHARD.test(text);
}

/**
 * Consecutive new ids share a folder, so that one folder sync makes files sealed together durable. Over time all
 * folders fill evenly.
 */
export function createIdSource(random: (size: number) => Buffer, perShard = 1_024): () => BlobId {
  let shard = '';
  let left = 0;
  return () => {
    if (left === 0) {
      shard = random(2).toString('hex').slice(0, SHARD_DIGITS);
      left = perShard;
    }
    left -= 1;
    return (
      shard +
      random(ID_DIGITS / 2)
        .toString('hex')
        .slice(SHARD_DIGITS)
    );
  };
}

function fileNameOf(id: BlobId): string {
  return checked(id).replaceAll('/', '.');
}

/** Ids come from our own rows. A malformed one is a bug and must never become a path. */
function checked(id: BlobId): BlobId {
  if (!ID.test(id)) throw new Error('a blob id is malformed');
  return id;
}
