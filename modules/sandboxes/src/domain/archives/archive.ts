import type { WrappedKey } from '@svc/keys';
import type { Breach, Limits } from '@svc/quotas';
import type { Snapshot } from '../snapshots/snapshot.ts';

/** Writes one archive. Nothing is readable before `seal`. */
export interface ArchiveWriter {
  /** Takes ownership of the chunk. Awaiting it applies backpressure. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Resolves once everything is on stable storage. */
  seal(): Promise<unknown>;
  /** Removes what was written. Safe at any time. */
  abort(): Promise<void>;
}

/** Private storage that all nodes reach, and no tenant does. Ids are 32 hexadecimal digits. */
export interface ArchiveBlobs {
  createAs(id: string): Promise<ArchiveWriter>;
  /** A chunk is valid until the next one is requested. */
  read(id: string, range: { readonly start: number; readonly endExclusive: number }): AsyncIterable<Uint8Array>;
  /** Does nothing if there is no such archive. */
  remove(id: string): Promise<void>;
  /** Removes what unfinished writers left that are older. Returns their number. */
  sweepUnsealed(olderThanMs: number): Promise<number>;
  close(): Promise<void>;
}

/** An archive that is about to be written. */
export interface NewArchive {
  readonly id: string;
  /** Null for an image: snapshots are based on it, or templates have it. */
  readonly snapshotId: string | null;
  /** What the files of the snapshot are based on; or, without a snapshot, the name of the image itself. */
  readonly base: string | null;
  /** What can read it. */
  readonly format: string;
  readonly node: string;
  readonly key: WrappedKey;
  /** Whose quotas the archive of an image counts towards; null for one of the catalog. A snapshot counts its own archive. */
  readonly workspaceUuid: string | null;
}

export interface ArchiveSizes {
  readonly sizeBytes: number;
  /** Size of the content, which a node needs room for; null if an earlier version wrote the archive. */
  readonly unpackedBytes: number | null;
}

export interface Archive extends NewArchive, ArchiveSizes {}

/** Room that the content takes on the disk of a node, as far as is known. */
export function diskBytesOf({ unpackedBytes, sizeBytes }: ArchiveSizes): number {
  return unpackedBytes ?? sizeBytes;
}

/** A finished build whose image has no archive yet. */
export interface UnarchivedImage {
  /** ID of the build. */
  readonly id: string;
  readonly workspaceUuid: string;
  readonly digest: string;
}

/** Why an archive that was written does not count: its snapshot is gone, or what it is based on. */
export type ArchiveRefusal = 'gone' | 'base_gone';

/** Stores what is archived. Each archive has a row before its first byte, and until its last one is removed. */
export interface ArchiveRepository {
  /**
   * Records an archive before it is written. With limits, reserves `maxBytes` in the quotas of its snapshot or its own
   * workspace until it is complete. Returns the limit that the archive would exceed, `gone` if the snapshot is, or null.
   */
  begin(
    archive: NewArchive,
    snapshot: Snapshot | null,
    maxBytes: number,
    limits: Limits | null,
  ): Promise<Breach | 'gone' | null>;
  /** The archive is complete. Only with null it counts. */
  finish(archive: NewArchive, sizes: ArchiveSizes): Promise<ArchiveRefusal | null>;
  /**
   * Marks an archive as removed, so that `finish` finds it gone. Returns false if it is complete: it counts, and its bytes
   * stay. Its writer, or a check of its node, calls this before it removes any bytes.
   */
  markRemoved(id: string): Promise<boolean>;
  /** Forgets an archive that is marked as removed, once its bytes are. */
  forget(id: string): Promise<void>;
  /** Notes why a snapshot could not be archived, and releases the reservation. */
  noteFailure(snapshotId: string, reason: string): Promise<void>;
  /** A complete archive of the snapshot. */
  find(snapshotId: string): Promise<Archive | null>;
  /** A complete base, which is kept for an hour from now on. */
  useBase(base: string, format: string): Promise<Archive | null>;
  findBase(base: string, format: string): Promise<Archive | null>;
  /**
   * Snapshots of the node that are not archived: first those that have not failed, and among them one of each
   * workspace, then a second one of each, and so on.
   */
  unarchived(node: string, limit: number): Promise<readonly Snapshot[]>;
  /** Builds of the node that have a tag, and an image without an archive of this format. In the same order. */
  unarchivedImages(node: string, format: string, limit: number): Promise<readonly UnarchivedImage[]>;
  /** Notes why the image of a build could not be archived. */
  noteImageFailure(buildId: string, reason: string): Promise<void>;
  /** Unfinished archives of the node. */
  unfinished(node: string): Promise<readonly string[]>;
  /** Gives up unfinished archives of other nodes. Their writers may return at any time. */
  abandon(nodes: readonly string[]): Promise<void>;
  /** Marks what no snapshot, no tag of a template and no sandbox needs, and returns all that is marked. */
  takeUnneeded(limit: number): Promise<readonly string[]>;
  abandoned(limit: number): Promise<readonly string[]>;
}

/** Binds the key of an archive to it. */
export function archiveContext(id: string): string {
  return `sandbox-archive:${id}`;
}

/** Stores a stream whole, or nothing of it. Returns its size. */
export async function storeArchive(
  blobs: ArchiveBlobs,
  id: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const writer = await blobs.createAs(id);
  try {
    let sizeBytes = 0;
    for await (const chunk of content) {
      signal.throwIfAborted();
      sizeBytes += chunk.length;
      await writer.write(chunk);
    }
    signal.throwIfAborted();
    await writer.seal();
    return sizeBytes;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
