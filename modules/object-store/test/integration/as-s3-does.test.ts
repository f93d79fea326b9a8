import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

describe('S3 edge cases', () => {
  let store: ClientStore;
  let client: S3Client;
  let clientOfFirstRegion: S3Client;
  const Bucket = 'as.s3-does';

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
    clientOfFirstRegion = sdkClient(store, store.key, { region: 'us-east-1' });
  });
  afterAll(async () => {
    clientOfFirstRegion.destroy();
    await store.close();
  });

  it('allows re-creating your own bucket only in us-east-1 and without another ACL', async () => {
    await clientOfFirstRegion.send(new CreateBucketCommand({ Bucket }));
    const elsewhere = client.send(new CreateBucketCommand({ Bucket }));
    expect(await catchRefusal(elsewhere)).toMatchObject({ code: 'BucketAlreadyOwnedByYou' });
    const otherwise = clientOfFirstRegion.send(new CreateBucketCommand({ Bucket, ACL: 'public-read' }));
    expect(await catchRefusal(otherwise)).toMatchObject({ code: 'BucketAlreadyExists' });
  });

  it.each(['a..b', 'a.-b', 'a-.b', '.ab', 'ab.', '192.168.1.9', 'Abc', 'a_b'])(
    'rejects the bucket name %s',
    async (name) => {
      const made = client.send(new CreateBucketCommand({ Bucket: name }));
      expect(await catchRefusal(made)).toMatchObject({ code: 'InvalidBucketName' });
    },
  );

  it('distinguishes an invalid version ID from a missing version', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'versions', Body: 'x' }));
    const get = (VersionId: string) => client.send(new GetObjectCommand({ Bucket, Key: 'versions', VersionId }));
    expect(await catchRefusal(get('not_a_version'))).toEqual({ code: 'InvalidArgument', status: 400 });
    expect(await catchRefusal(get('0mwqmbbntvs0000000000'))).toEqual({ code: 'NoSuchVersion', status: 404 });
  });

  it('accepts an empty continuation token for the first page', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'listed', Body: 'x' }));
    const page = await client.send(new ListObjectsV2Command({ Bucket, ContinuationToken: '', Prefix: 'listed' }));
    expect(page.Contents?.map(({ Key }) => Key)).toEqual(['listed']);
  });

  it('encodes the listing prefix in v1 only where XML requires it, and always in v2', async () => {
    const encoded = { Bucket, EncodingType: 'url' } as const;
    expect((await client.send(new ListObjectsCommand({ ...encoded, Prefix: '\n%&' }))).Prefix).toBe('\n%&');
    expect((await client.send(new ListObjectsCommand({ ...encoded, Prefix: '\u0001' }))).Prefix).toBe('%01');
    expect((await client.send(new ListObjectsV2Command({ ...encoded, Prefix: '\n%&' }))).Prefix).toBe('%0A%25%26');
  });

  it('uses the last upload of a part that is listed twice', async () => {
    const Key = 'sent-twice';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const send = async (Body: string) => {
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body }));
      return { PartNumber: 1, ETag };
    };
    const Parts = [await send('first'), await send('second')];
    const completion = new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } });
    expect((await client.send(completion)).Location).toBe(`${store.endpoint}/${Bucket}/${Key}`);
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(await Body?.transformToString()).toBe('second');
  });

  it.each([
    ['deflate, gzip', 'deflate, gzip'],
    ['gzip, aws-chunked', 'gzip'],
    ['aws-chunked', undefined],
  ])('stores the encoding %s as %s', async (ContentEncoding, kept) => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'encoded', Body: 'x', ContentEncoding }));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'encoded' }))).ContentEncoding).toBe(kept);
  });
});
