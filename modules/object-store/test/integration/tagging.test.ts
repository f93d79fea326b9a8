import {
  DeleteBucketTaggingCommand,
  DeleteObjectTaggingCommand,
  GetBucketTaggingCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

describe('tags over S3', () => {
  let store: ClientStore;
  let client: S3Client;
  const [Bucket, Key] = ['tagged', 'a'];

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  it('are set with an object, counted, replaced and removed, without changing its modification time', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x', Tagging: 'team=blue&empty=' }));
    const before = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(before.TagCount).toBe(2);
    const read = async () => (await client.send(new GetObjectTaggingCommand({ Bucket, Key }))).TagSet;
    expect(await read()).toEqual([
      { Key: 'empty', Value: '' },
      { Key: 'team', Value: 'blue' },
    ]);
    const TagSet = [{ Key: 'a<b'.replace('<', '+'), Value: 'é =' }];
    await client.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet } }));
    expect(await read()).toEqual(TagSet);
    await client.send(new DeleteObjectTaggingCommand({ Bucket, Key }));
    expect(await read()).toEqual([]);
    const after = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(after.TagCount).toBeUndefined();
    expect(after.LastModified).toEqual(before.LastModified);
    const absent = client.send(new GetObjectTaggingCommand({ Bucket, Key: 'absent' }));
    expect(await catchRefusal(absent)).toEqual({ code: 'NoSuchKey', status: 404 });
  });

  it('are stored for a bucket too, and rejected when invalid', async () => {
    const read = () => client.send(new GetBucketTaggingCommand({ Bucket }));
    const write = (...keys: string[]) => {
      const TagSet = keys.map((name) => ({ Key: name, Value: 'x' }));
      return client.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
    };
    expect(await catchRefusal(read())).toEqual({ code: 'NoSuchTagSet', status: 404 });
    await write('cost', 'team');
    expect((await read()).TagSet).toHaveLength(2);
    expect(await catchRefusal(write('a', 'a'))).toEqual({ code: 'InvalidTag', status: 400 });
    await client.send(new DeleteBucketTaggingCommand({ Bucket }));
    expect(await catchRefusal(read())).toEqual({ code: 'NoSuchTagSet', status: 404 });
  });
});
