import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Limits } from '@svc/quotas';
import { afterEach, beforeEach } from 'vitest';
import type { MetadataStore } from '../../src/domain/ports/metadata-store.ts';
import type { DeletedObject, DeleteObject, NewContent, PutObject } from '../../src/domain/ports/objects.ts';
import type { StoredVersion } from '../../src/domain/ports/records.ts';
import type { BucketRecord } from '../../src/domain/ports/records.ts';

/** Limits of a workspace that is its owner's only one, unless `owner` says otherwise. */
export function tenantLimits(
  workspaceUuid: string,
  workspace: Limits['workspace'],
  owner: Partial<Pick<Limits, 'owner' | 'ownerWorkspaces'>> = {},
): Limits {
  return { workspaceUuid, ownerId: 'owner', ownerWorkspaces: [workspaceUuid], workspace, owner: {}, ...owner };
}

export interface OpenedMetadata {
  store: MetadataStore;
  close(): Promise<void>;
}

export type OpenMetadata = () => Promise<OpenedMetadata>;

export const NOW_MS = Date.parse('2026-01-01T00:00:00Z');

/** Time from which content released at `NOW_MS` may be removed. */
export const DUE_MS = NOW_MS + 1_000;

export const LATER_MS = NOW_MS + 10_000;

/** A fresh store with one bucket for each test, and the calls most tests share. */
export interface MetadataBench {
  readonly store: MetadataStore;
  readonly bucket: BucketRecord;
  readonly workspaceUuid: string;
  createBucket(name: string, workspaceUuid: string): Promise<BucketRecord>;
  put(key: string, content?: NewContent, extra?: Partial<PutObject>): Promise<StoredVersion>;
  putBlob(key: string): Promise<{ blobId: string }>;
  remove(key: string, extra?: Partial<DeleteObject>): Promise<DeletedObject>;
  /** IDs of the content due for removal. */
  trash(): Promise<string[]>;
  usage(): Promise<{ objectCount: number | undefined; sizeBytes: number | undefined }>;
}

/** Call it inside a `describe`. */
export function metadataBench(open: OpenMetadata): MetadataBench {
  let opened: OpenedMetadata | undefined;
  let bucket: BucketRecord | undefined;
  const workspaceUuid = randomUUID();
  const current = (): MetadataStore => {
    if (opened === undefined) throw new Error('the store is there only while a test runs');
    return opened.store;
  };
  const currentBucket = (): BucketRecord => {
    if (bucket === undefined) throw new Error('the bucket is there only while a test runs');
    return bucket;
  };
  const createBucket = (name: string, owner: string): Promise<BucketRecord> =>
    current().createBucket({
      id: randomBytes(6).readUIntBE(0, 6),
      name,
      workspaceUuid: owner,
      nowMs: NOW_MS,
      encryptionMode: 'none',
      locationHint: null,
      tenant: tenantLimits(owner, { buckets: 3 }),
    });
  const put: MetadataBench['put'] = (key, content = { kind: 'empty' }, extra = {}) =>
    current().putObject({
      bucketId: currentBucket().id,
      key,
      nowMs: NOW_MS,
      versionToken: randomBytes(8).toString('hex'),
      content,
      sizeBytes: content.kind === 'inline' ? content.data.length : content.kind === 'blob' ? 1_000 : 0,
      etag: createHash('md5').update(key).digest('hex'),
      attributes: { contentType: 'text/plain' },
      checksum: null,
      conditions: {},
      trashDueAtMs: DUE_MS,
      ...extra,
    });

  beforeEach(async () => {
    opened = await open();
    bucket = await createBucket('first', workspaceUuid);
  });
  afterEach(() => opened?.close());

  return {
    get store() {
      return current();
    },
    get bucket() {
      return currentBucket();
    },
    workspaceUuid,
    createBucket,
    put,
    putBlob: async (key) => {
      const content = { kind: 'blob', blobId: randomBytes(16).toString('hex') } as const;
      await put(key, content);
      return content;
    },
    remove: (key, extra = {}) =>
      current().deleteObject({
        bucketId: currentBucket().id,
        key,
        nowMs: NOW_MS,
        versionToken: 'token',
        trashDueAtMs: DUE_MS,
        conditions: {},
        ...extra,
      }),
    trash: async () => (await current().dueTrash({ nowMs: LATER_MS, limit: 100 })).map((entry) => entry.contentId),
    usage: async () => {
      const query = { workspaceUuid, prefix: currentBucket().name, after: '', limit: 1 };
      const [found] = await current().listBuckets(query);
      return { objectCount: found?.objectCount, sizeBytes: found?.sizeBytes };
    },
  };
}
