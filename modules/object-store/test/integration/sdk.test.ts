import { createHash, randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

const MiB = 1024 * 1024;

describe('the AWS SDK for JavaScript with its defaults', () => {
  let store: ClientStore;
  let client: S3Client;
  const Bucket = 'photos';

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  const put = (Key: string, Body: Uint8Array | string) => client.send(new PutObjectCommand({ Bucket, Key, Body }));
  const get = async (Key: string, Range?: string) => {
    const answer = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range === undefined ? {} : { Range }) }));
    return { answer, bytes: Buffer.from(await answer.Body!.transformToByteArray()) };
  };

  it('creates, finds, lists and deletes buckets', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'second-one' }));
    await client.send(new HeadBucketCommand({ Bucket: 'second-one' }));
    const { Buckets } = await client.send(new ListBucketsCommand({}));
    expect(Buckets?.map((bucket) => bucket.Name)).toEqual(['photos', 'second-one']);
    const location = await client.send(new GetBucketLocationCommand({ Bucket }));
    expect(location.LocationConstraint ?? '').toBe('');
    expect(await catchRefusal(client.send(new CreateBucketCommand({ Bucket })))).toEqual({
      code: 'BucketAlreadyOwnedByYou',
      status: 409,
    });
    await client.send(new DeleteBucketCommand({ Bucket: 'second-one' }));
    expect(await catchRefusal(client.send(new HeadBucketCommand({ Bucket: 'second-one' })))).toMatchObject({
      status: 404,
    });
  });

  it.each([0, 1, 4_096, 65_536, 65_537, 300_000, 5 * MiB + 17])('stores and returns %i bytes exactly', async (size) => {
    const body = randomBytes(size);
    const stored = await put(`size/${size}`, body);
    expect(stored.ETag).toBe(`"${createHash('md5').update(body).digest('hex')}"`);
    expect(stored.ChecksumCRC32).toBeDefined();
    const { answer, bytes } = await get(`size/${size}`);
    expect(bytes.equals(body)).toBe(true);
    expect(answer.ContentLength).toBe(size);
    expect(answer.AcceptRanges).toBe('bytes');
  });

  it('returns the headers and metadata of an object', async () => {
    await client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'described',
        Body: 'text',
        ContentType: 'text/plain; charset=utf-8',
        CacheControl: 'max-age=60',
        ContentDisposition: 'attachment; filename="a b.txt"',
        ContentLanguage: 'de',
        Metadata: { colour: 'blue', 'mixed-case': 'Kept As It Is' },
      }),
    );
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'described', ChecksumMode: 'ENABLED' }));
    expect(head).toMatchObject({
      ContentType: 'text/plain; charset=utf-8',
      CacheControl: 'max-age=60',
      ContentDisposition: 'attachment; filename="a b.txt"',
      ContentLanguage: 'de',
      ContentLength: 4,
      Metadata: { colour: 'blue', 'mixed-case': 'Kept As It Is' },
      ChecksumType: 'FULL_OBJECT',
    });
    expect(Math.abs(Date.now() - head.LastModified!.getTime())).toBeLessThan(60_000);
  });

  it.each(['small', 'large'])('serves ranges of a %s object', async (kind) => {
    const body = randomBytes(kind === 'small' ? 1_000 : 2 * MiB);
    await put('ranged', body);
    const cases: [string, Buffer][] = [
      ['bytes=0-0', body.subarray(0, 1)],
      ['bytes=10-19', body.subarray(10, 20)],
      ['bytes=900-', body.subarray(900)],
      ['bytes=-7', body.subarray(-7)],
      ['bytes=0-99999999', body],
    ];
    for (const [range, expected] of cases) {
      const { answer, bytes } = await get('ranged', range);
      expect(bytes.equals(expected)).toBe(true);
      expect(answer.$metadata.httpStatusCode).toBe(206);
      expect(answer.ContentRange).toMatch(new RegExp(`/${body.length}$`));
    }
    expect(await catchRefusal(get('ranged', `bytes=${body.length}-`))).toEqual({ code: 'InvalidRange', status: 416 });
  });

  it('enforces conditions on reads and writes', async () => {
    const { ETag } = await put('conditional', 'one');
    const conditional = (extra: object) =>
      catchRefusal(client.send(new GetObjectCommand({ Bucket, Key: 'conditional', ...extra })));
    expect(await conditional({ IfMatch: '"0000"' })).toEqual({ code: 'PreconditionFailed', status: 412 });
    expect(await conditional({ IfNoneMatch: ETag })).toMatchObject({ status: 304 });
    expect(await conditional({ IfMatch: ETag })).toMatchObject({ code: 'none' });
    const write = (extra: object) =>
      catchRefusal(client.send(new PutObjectCommand({ Bucket, Key: 'conditional', Body: 'two', ...extra })));
    expect(await write({ IfNoneMatch: '*' })).toEqual({ code: 'PreconditionFailed', status: 412 });
    expect(await write({ IfMatch: '"0000"' })).toEqual({ code: 'PreconditionFailed', status: 412 });
    expect(await write({ IfMatch: ETag })).toMatchObject({ code: 'none' });
    expect((await get('conditional')).bytes.toString()).toBe('two');
  });

  it('reports missing objects and buckets', async () => {
    expect(await catchRefusal(get('absent'))).toEqual({ code: 'NoSuchKey', status: 404 });
    expect(await catchRefusal(client.send(new HeadObjectCommand({ Bucket, Key: 'absent' })))).toMatchObject({
      status: 404,
    });
    const elsewhere = client.send(new GetObjectCommand({ Bucket: 'no-such-bucket', Key: 'a' }));
    expect(await catchRefusal(elsewhere)).toEqual({ code: 'NoSuchBucket', status: 404 });
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'absent' }));
  });

  it('deletes one object and many', async () => {
    const keys = ['gone/1', 'gone/2', 'gone/<&>"\'', 'gone/\u{1f600}'];
    for (const key of keys) await put(key, key);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'gone/1' }));
    const answer = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }),
    );
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(keys);
    expect(answer.Errors).toBeUndefined();
    const { KeyCount } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'gone/' }));
    expect(KeyCount).toBe(0);
  });

  it('lists with prefix, delimiter and pages in both API versions', async () => {
    const keys = ['list/a', 'list/b/1', 'list/b/2', 'list/c', 'list/d/1', 'list/e'];
    for (const key of keys) await put(key, 'x');
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: 'list/', Delimiter: '/', MaxKeys: 2, ContinuationToken: token }),
      );
      seen.push(
        ...(page.Contents ?? []).map((object) => object.Key!),
        ...(page.CommonPrefixes ?? []).map((each) => each.Prefix!),
      );
      token = page.NextContinuationToken;
      expect(page.IsTruncated).toBe(token !== undefined);
    } while (token !== undefined);
    expect(seen.toSorted()).toEqual(['list/a', 'list/b/', 'list/c', 'list/d/', 'list/e']);
    const first = await client.send(new ListObjectsCommand({ Bucket, Prefix: 'list/', Delimiter: '/', MaxKeys: 2 }));
    expect(first.NextMarker).toBe('list/b/');
    const second = await client.send(
      new ListObjectsCommand({ Bucket, Prefix: 'list/', Delimiter: '/', Marker: first.NextMarker }),
    );
    expect(second.Contents?.map((object) => object.Key)).toEqual(['list/c', 'list/e']);
    expect(second.CommonPrefixes?.map((each) => each.Prefix)).toEqual(['list/d/']);
  });

  it('uploads in parts, lists them, serves ranges across them and drops an aborted upload', async () => {
    const Key = 'multipart/object';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: 'video/mp4' }));
    const bodies = [randomBytes(5 * MiB), randomBytes(5 * MiB + 3), randomBytes(100)];
    const Parts: { PartNumber: number; ETag: string | undefined; ChecksumCRC32: string | undefined }[] = [];
    for (const [index, Body] of bodies.entries()) {
      const PartNumber = index * 2 + 1;
      const { ETag, ChecksumCRC32 } = await client.send(
        new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }),
      );
      Parts.push({ PartNumber, ETag, ChecksumCRC32 });
    }
    const listed = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
    expect(listed.Parts?.map((part) => part.PartNumber)).toEqual([1, 3, 5]);
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    expect(uploads.Uploads?.map((upload) => upload.Key)).toEqual([Key]);
    const complete = () =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    const completed = await complete();
    const digests = bodies.map((body) => createHash('md5').update(body).digest());
    expect(completed.ETag).toBe(`"${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-3"`);
    expect((await complete()).ETag).toBe(completed.ETag);
    const whole = Buffer.concat(bodies);
    expect((await get(Key)).bytes.equals(whole)).toBe(true);
    const border = 5 * MiB;
    expect((await get(Key, `bytes=${border - 2}-${border + 5 * MiB + 5}`)).bytes).toEqual(
      whole.subarray(border - 2, border + 5 * MiB + 6),
    );
    const part = await client.send(new GetObjectCommand({ Bucket, Key, PartNumber: 5 }));
    expect(Buffer.from(await part.Body!.transformToByteArray())).toEqual(bodies[2]);
    expect(part.PartsCount).toBe(3);

    const aborted = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'multipart/aborted' }));
    const upload = { Bucket, Key: 'multipart/aborted', UploadId: aborted.UploadId };
    await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'x' }));
    await client.send(new AbortMultipartUploadCommand(upload));
    expect(await catchRefusal(client.send(new ListPartsCommand(upload)))).toEqual({
      code: 'NoSuchUpload',
      status: 404,
    });
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  it('leaves blobs and rows consistent', async () => {
    await store.module.maintain();
    expect(await store.module.fsck()).toMatchObject({ clean: true });
  });
});
