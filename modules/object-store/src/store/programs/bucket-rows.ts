import { storeErrors } from '../../errors.ts';
import type { BucketRecord, BucketState, ObjectEncryption, Versioning } from '../../domain/ports/records.ts';
import { add, first, type Program, type Row } from '../program.ts';
import { integer, integerOrNull, text, textOrNull } from '../row.ts';
import { assertSealedOpen, OPEN_FROM } from './key-ring-programs.ts';

export function toBucket(row: Row): BucketRecord {
  const versioning = text(row, 'versioning');
  return {
    id: integer(row, 'id'),
    name: text(row, 'name'),
    workspaceUuid: text(row, 'workspace_uuid'),
    createdAtMs: integer(row, 'created_at_ms'),
    state: toState(text(row, 'state')),
    deletedAtMs: integerOrNull(row, 'deleted_at_ms'),
    purgeAtMs: integerOrNull(row, 'purge_at_ms'),
    versioning: toVersioning(versioning),
    encryptionMode: text(row, 'encryption_mode') === 'sse-s3' ? 'sse-s3' : 'none',
    locationHint: textOrNull(row, 'location_hint'),
    configurationVersion: integer(row, 'configuration_version'),
  };
}

/** A bucket that accepts writes. */
export interface OpenBucket {
  versioning: Versioning;
  /** Whether a fork of it is under way. */
  isForking: boolean;
}

/**
 * Reads a bucket that accepts writes; the caller claims `bucketLock`. Throws `NoSuchBucket` if it has been deleted, and
 * `KeyClosed` if the key of `encryption` was replaced in the meantime.
 */
export function* openBucket(bucketId: number, encryption?: ObjectEncryption): Program<OpenBucket> {
  const row = yield* first(
    `select versioning, ${OPEN_FROM},
       (select count(*) from bucket_fork f where f.source_id = bucket.id and f.finished_at_ms is null) as forks
     from bucket where id = ? and state = 'active'`,
    bucketId,
  );
  if (row === undefined) throw storeErrors.NoSuchBucket();
  assertSealedOpen(encryption?.sealedKey, integer(row, 'open_from'));
  return { versioning: toVersioning(text(row, 'versioning')), isForking: integer(row, 'forks') > 0 };
}

/** Deltas for a bucket's counters. Negative for removals. */
export interface UsageChange {
  objects?: number;
  bytes?: number;
  markers?: number;
  uploads?: number;
  uploadBytes?: number;
}

export function* addUsage(bucketId: number, added: UsageChange): Program<void> {
  const { objects = 0, bytes = 0, markers = 0, uploads = 0, uploadBytes = 0 } = added;
  yield* add(
    `update bucket_usage set object_count = object_count + ?, size_bytes = size_bytes + ?,
       marker_count = marker_count + ?, upload_count = upload_count + ?, upload_bytes = upload_bytes + ?
     where bucket_id = ?`,
    [objects, bytes, markers, uploads, uploadBytes],
    bucketId,
  );
}

function toState(stored: string): BucketState {
  return stored === 'active' || stored === 'forking' ? stored : 'soft-deleted';
}

function toVersioning(stored: string): Versioning {
  return stored === 'enabled' || stored === 'suspended' ? stored : 'unversioned';
}
