import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketEncryptionCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CopyObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { testConfig } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const MiB = 1024 * 1024;

describe('copies over S3', () => {
  let store: ClientStore;
  let client: S3Client;
  const [Bucket, other] = ['copy-from', 'copy-to'];
  const limits = { ...testConfig().limits, part_min_bytes: 0 };

  beforeAll(async () => {
    store = await startClientStore({
      bucket: Bucket,
      config: { trash_grace_seconds: 0, sweep_grace_seconds: 0, limits },
    });
    ({ client } = store);
    await client.send(new CreateBucketCommand({ Bucket: other }));
  });
  afterAll(async () => {
    await store.close();
  });

  const put = (Key: string, Body: Uint8Array, extra: object = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body, ...extra }));
  const copy = (CopySource: string, Key: string, extra: Partial<CopyObjectCommandInput> = {}) =>
    client.send(new CopyObjectCommand({ Bucket, CopySource, Key, ...extra }));
  const read = async (Key: string, from = Bucket) => {
    const answer = await client.send(new GetObjectCommand({ Bucket: from, Key }));
    return Buffer.from(await answer.Body!.transformToByteArray());
  };
  const blobCount = async () => (await store.module.fsck()).blobsFound;

  it.each([0, 4_096, 300_000])(
    'of %i bytes keep content, type, metadata and tags, in another bucket too',
    async (size) => {
      const body = randomBytes(size);
      const key = `of ${size}/é+ü?`;
      await put(key, body, { ContentType: 'text/x', Metadata: { a: 'b' }, Tagging: 'k=v', CacheControl: 'no-store' });
      const before = await blobCount();
      const answer = await copy(`${Bucket}/${encodeURIComponent(key)}`, 'there', { Bucket: other });
      expect(answer.CopyObjectResult?.ETag).toBe(`"${createHash('md5').update(body).digest('hex')}"`);
      expect((await read('there', other)).equals(body)).toBe(true);
      expect(await blobCount()).toBe(before);
      const head = await client.send(new HeadObjectCommand({ Bucket: other, Key: 'there' }));
      expect(head).toMatchObject({ ContentType: 'text/x', Metadata: { a: 'b' }, CacheControl: 'no-store' });
      await client.send(new DeleteObjectCommand({ Bucket, Key: key }));
      await store.module.maintain();
      expect((await read('there', other)).equals(body)).toBe(true);
      expect((await store.module.fsck()).clean).toBe(true);
    },
  );

  it('replace metadata and tags only on request, and fail onto themselves without any change', async () => {
    await put('self', Buffer.from('bytes'), { Metadata: { old: '1' }, Tagging: 'old=1' });
    expect(await catchRefusal(copy(`${Bucket}/self`, 'self'))).toEqual({ code: 'InvalidRequest', status: 400 });
    await copy(`/${Bucket}/self`, 'self', { MetadataDirective: 'REPLACE', Metadata: { new: '2' }, ContentType: 'a/b' });
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'self' }));
    expect(head).toMatchObject({ ContentType: 'a/b', Metadata: { new: '2' } });
    const tagged = await client.send(new GetObjectCommand({ Bucket, Key: 'self' }));
    expect(tagged.TagCount).toBe(1);
    await copy(`${Bucket}/self`, 'self', { TaggingDirective: 'REPLACE', Tagging: '' });
    expect((await client.send(new GetObjectCommand({ Bucket, Key: 'self' }))).TagCount).toBeUndefined();
    expect((await read('self')).toString()).toBe('bytes');
    await copy(`${Bucket}/self`, 'hashed', { ChecksumAlgorithm: 'SHA256' });
    const hashed = await client.send(new HeadObjectCommand({ Bucket, Key: 'hashed', ChecksumMode: 'ENABLED' }));
    expect(hashed.ChecksumSHA256).toBe(createHash('sha256').update('bytes').digest('base64'));
  });

  it('check conditions on the source and the target, and reject a missing or foreign source', async () => {
    const { ETag = '' } = await put('cond', Buffer.from('x'));
    const source = `${Bucket}/cond`;
    await copy(source, 'met', { CopySourceIfMatch: ETag });
    expect(await catchRefusal(copy(source, 'no', { CopySourceIfNoneMatch: ETag }))).toMatchObject({ status: 412 });
    expect(await catchRefusal(copy(source, 'met', { IfNoneMatch: '*' }))).toMatchObject({ status: 412 });
    expect(await catchRefusal(copy(`${Bucket}/absent`, 'no'))).toEqual({ code: 'NoSuchKey', status: 404 });
    expect(await catchRefusal(copy('no-such-bucket-here/a', 'no'))).toEqual({ code: 'NoSuchBucket', status: 404 });
    expect(await catchRefusal(copy(Bucket, 'no'))).toEqual({ code: 'InvalidArgument', status: 400 });
    const long = 'k'.repeat(1_025);
    expect(await catchRefusal(copy(`${Bucket}/${long}`, 'no'))).toEqual({ code: 'KeyTooLongError', status: 400 });
    const stranger = sdkClient(store, await store.createKey({ workspaceUuid: randomUUID() }));
    await stranger.send(new CreateBucketCommand({ Bucket: 'strangers' }));
    const theft = stranger.send(new CopyObjectCommand({ Bucket: 'strangers', Key: 'a', CopySource: source }));
    expect(await catchRefusal(theft)).toEqual({ code: 'AccessDenied', status: 403 });
    stranger.destroy();
  });

  it('read an older version by its ID', async () => {
    const Key = 'versioned';
    const status = { Bucket: other, VersioningConfiguration: { Status: 'Enabled' as const } };
    await client.send(new PutBucketVersioningCommand(status));
    const first = await client.send(new PutObjectCommand({ Bucket: other, Key, Body: 'one' }));
    await client.send(new PutObjectCommand({ Bucket: other, Key, Body: 'two' }));
    const answer = await copy(`${other}/${Key}?versionId=${first.VersionId}`, 'restored');
    expect(answer.CopySourceVersionId).toBe(first.VersionId);
    expect((await read('restored')).toString()).toBe('one');
  });

  it('of ranges become parts that share stored bytes, unless a range spans several parts', async () => {
    const pieces = [randomBytes(MiB), randomBytes(MiB)];
    const Key = 'assembled';
    // An encrypted upload has its own key, so every copied part would be rewritten.
    await client.send(new DeleteBucketEncryptionCommand({ Bucket }));
    const source = await upload('source', async (UploadId) => {
      for (const [index, Body] of pieces.entries()) {
        const part = { Bucket, Key: 'source', UploadId, PartNumber: index + 1, Body };
        await client.send(new UploadPartCommand(part));
      }
    });
    expect(source.ETag).toMatch(/-2"$/);
    const whole = Buffer.concat(pieces);
    const ranges = [
      [0, MiB],
      [MiB + 5, 2 * MiB],
      [MiB - 10, MiB + 10],
    ] as const;
    const before = await blobCount();
    await upload(Key, async (UploadId) => {
      for (const [index, [start, end]] of ranges.entries()) {
        const PartNumber = index + 1;
        const CopySourceRange = `bytes=${start}-${end - 1}`;
        const part = { Bucket, Key, UploadId, PartNumber, CopySource: `${Bucket}/source`, CopySourceRange };
        const { CopyPartResult } = await client.send(new UploadPartCopyCommand(part));
        const expected = createHash('md5').update(whole.subarray(start, end)).digest('hex');
        expect(CopyPartResult?.ETag).toBe(`"${expected}"`);
      }
      const wrong = { Bucket, Key, UploadId, PartNumber: 9, CopySource: `${Bucket}/source` };
      const copyRange = (CopySourceRange: string) =>
        client.send(new UploadPartCopyCommand({ ...wrong, CopySourceRange }));
      expect(await catchRefusal(copyRange('0-1'))).toMatchObject({ code: 'InvalidArgument' });
      expect(await catchRefusal(copyRange(`bytes=0-${2 * MiB}`))).toMatchObject({ code: 'InvalidRange' });
    });
    expect(await blobCount()).toBe(before + 1);
    const expected = Buffer.concat(ranges.map(([start, end]) => whole.subarray(start, end)));
    expect((await read(Key)).equals(expected)).toBe(true);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'source' }));
    await store.module.maintain();
    expect((await read(Key)).equals(expected)).toBe(true);
    expect(await store.module.fsck()).toMatchObject({ clean: true });
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await store.module.maintain();
    await store.module.maintain();
    expect(await store.module.fsck()).toMatchObject({ clean: true });
  });

  async function upload(Key: string, fill: (uploadId: string) => Promise<void>) {
    const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    await fill(UploadId);
    const found = await store.metadata.listParts({ uploadId: UploadId, afterPartNumber: 0, limit: 100 });
    const Parts = found.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
    return await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  }
});
