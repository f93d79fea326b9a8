import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { unlimitedTraffic } from '@svc/quotas';
import { systemClock, unlimitedDisk } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedBlobStore } from '../../src/adapters/engines/embedded/blob-store.ts';
import { UploadAdmission } from '../../src/domain/admission.ts';
import { BucketConfigurations } from '../../src/domain/bucket-configurations.ts';
import { DigestThread } from '../../src/domain/checksums/digest-thread.ts';
import { HashKernels } from '../../src/domain/checksums/hasher.ts';
import { createMemorySource, type ContentSource } from '../../src/domain/content/content-source.ts';
import { createContentStore, type ContentInput, type ContentStore } from '../../src/domain/content/content-store.ts';
import { ContentKey } from '../../src/domain/encryption/content-key.ts';
import type { BlobStore } from '../../src/domain/ports/blob-store.ts';
import type { NewContent } from '../../src/domain/ports/objects.ts';
import type { BucketRecord } from '../../src/domain/ports/records.ts';
import { storeErrors } from '../../src/errors.ts';

const INLINE_BYTES = 1_000;
const MAX_BYTES = 1_000_000;
const SETTINGS = JSON.stringify({ maxObjectSizeBytes: 500_000, allowedContentTypes: ['image/*'] });

describe('the content store', () => {
  let folder: TemporaryFolder;
  let thread: DigestThread;
  let blobs: BlobStore;
  let content: ContentStore;

  beforeEach(async () => {
    folder = await temporaryFolder();
    thread = new DigestThread();
    const deps = { random: randomBytes, clock: systemClock, disk: unlimitedDisk };
    blobs = await openEmbeddedBlobStore({ ...deps, folder: join(folder.path, 'blobs') });
    const documents = {
      bucketDocuments: async () => ({ settings: SETTINGS }),
      putBucketDocument: async () => undefined,
    };
    content = createContentStore({
      ...deps,
      blobs,
      hashing: { kernels: new HashKernels(), thread },
      inlineMaxBytes: INLINE_BYTES,
      maxBytes: MAX_BYTES,
      turnOfBody: () => undefined,
      log: createLogger({ level: 'silent', name: 'test' }),
      configurations: new BucketConfigurations(documents, systemClock),
      admission: new UploadAdmission(1, unlimitedTraffic),
    });
  });
  afterEach(async () => {
    await thread.close();
    await blobs.close();
    await folder.remove();
  });

  const bucket: BucketRecord = {
    id: 1,
    workspaceUuid: 'w',
    name: 'bucket',
    versioning: 'unversioned',
    createdAtMs: 0,
    configurationVersion: 0,
    encryptionMode: 'none',
    state: 'active',
    deletedAtMs: null,
    purgeAtMs: null,
    locationHint: null,
  };
  const limited: BucketRecord = { ...bucket, id: 2, configurationVersion: 1 };
  const store = (source: ContentSource, more: Partial<ContentInput> = {}) =>
    content.store({ source, bucket, key: null, kind: 'object', ...more });
  const unread = (sizeBytes: number): ContentSource => ({
    sizeBytes,
    isUpload: true,
    pump: () => Promise.reject(new Error('was read')),
  });
  /** Sealed blobs and what writers left unsealed. */
  const leftovers = async () => (await collect(blobs.list())).length + (await blobs.sweepUnsealed(-1_000));
  const keep = (kept: NewContent): Promise<NewContent> => Promise.resolve(kept);

  it('stores small objects inline, and large ones and all parts as blobs', async () => {
    const [small, large] = [randomBytes(INLINE_BYTES), randomBytes(300_000)];
    const pending = await store(createMemorySource([small]));
    expect(pending).toMatchObject({ sizeBytes: small.length, etag: createHash('md5').update(small).digest('hex') });
    expect(await pending.commit(keep)).toEqual({ kind: 'inline', data: small });
    expect(await (await store(createMemorySource([]))).commit(keep)).toEqual({ kind: 'empty' });
    expect(await leftovers()).toBe(0);
    expect(await (await store(createMemorySource([small]), { kind: 'part' })).commit(keep)).toMatchObject({
      kind: 'blob',
    });
    expect(await (await store(createMemorySource([large]))).commit(keep)).toMatchObject({ kind: 'blob' });
    expect(await leftovers()).toBe(2);
  });

  it('encrypts, and hides the MD5 of the content if the key does', async () => {
    const body = randomBytes(2_000);
    const key = new ContentKey(randomBytes(32), { isGuarded: true });
    await using pending = await store(createMemorySource([body]), { key });
    expect(pending.etag).not.toBe(createHash('md5').update(body).digest('hex'));
    const [blob] = await collect(blobs.list());
    expect(blob?.sizeBytes).toBeGreaterThan(body.length);
  });

  it.each<[string, number, Partial<ContentInput>, string]>([
    ['more than the limit of a write', MAX_BYTES + 1, {}, 'EntityTooLarge'],
    ['more than the bucket allows', 500_001, { bucket: limited, contentType: 'image/png' }, 'EntityTooLarge'],
    ['a part larger than the bucket allows', 500_001, { bucket: limited, kind: 'part' }, 'EntityTooLarge'],
    ['a type that the bucket does not allow', 10, { bucket: limited, contentType: 'text/plain' }, 'InvalidRequest'],
  ])('refuses %s without reading a byte', async (_, sizeBytes, more, code) => {
    await expect(store(unread(sizeBytes), more)).rejects.toMatchObject({ code });
    expect(await leftovers()).toBe(0);
  });

  it('leaves nothing behind if the source fails, ends early, or declares another digest', async () => {
    const bytes = randomBytes(300_000);
    const cut: ContentSource = {
      sizeBytes: bytes.length,
      pump: async (consume) => {
        await consume(bytes.subarray(0, 200_000));
        throw storeErrors.IncompleteBody();
      },
    };
    const wrong: ContentSource = {
      ...createMemorySource([bytes]),
      declared: {
        names: new Set(['SHA256']),
        verify: ({ SHA256 }) => {
          if (SHA256?.toString('hex') !== 'declared') throw storeErrors.BadDigest();
        },
      },
    };
    const short = { ...createMemorySource([bytes]), sizeBytes: bytes.length + 1 };
    const long = { ...createMemorySource([bytes]), sizeBytes: bytes.length - 1 };
    for (const source of [cut, short, long]) {
      await expect(store(source)).rejects.toMatchObject({ code: 'IncompleteBody' });
    }
    await expect(store(wrong)).rejects.toMatchObject({ code: 'BadDigest' });
    expect(await leftovers()).toBe(0);
  });

  it('counts the bytes of a client as an upload until they are stored or fail', async () => {
    const inside = { ...createMemorySource([]), isUpload: true };
    const outside: ContentSource = {
      sizeBytes: 0,
      isUpload: true,
      pump: async () => {
        await expect(store(inside)).rejects.toMatchObject({ code: 'SlowDown' });
        await store(createMemorySource([])); // no client waits to send these
      },
    };
    await store(outside);
    await expect(store(unread(1))).rejects.toThrow('was read');
    await store(inside);
  });

  it('removes the bytes of a refused write, but keeps them if the row may exist', async () => {
    const bytes = randomBytes(2_000);
    const refused = await store(createMemorySource([bytes]));
    const refusal = storeErrors.PreconditionFailed();
    await expect(refused.commit(() => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(await leftovers()).toBe(0);
    const unclear = await store(createMemorySource([bytes]));
    await expect(unclear.commit(() => Promise.reject(new Error('connection lost')))).rejects.toThrow('connection lost');
    await unclear.discard();
    expect(await leftovers()).toBe(1);
  });

  it('removes bytes that nothing committed when their scope ends', async () => {
    const bytes = randomBytes(2_000);
    const abandon = async (): Promise<void> => {
      await using _ = await store(createMemorySource([bytes]));
      throw storeErrors.NoSuchUpload();
    };
    await expect(abandon()).rejects.toMatchObject({ code: 'NoSuchUpload' });
    expect(await leftovers()).toBe(0);
    const pending = await store(createMemorySource([bytes]));
    await pending.commit(keep);
    await pending.discard();
    await expect(pending.commit(keep)).rejects.toThrow('only once');
    expect(await leftovers()).toBe(1);
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
