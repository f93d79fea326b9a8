import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

describe('a versioned bucket', () => {
  let store: ClientStore;
  let client: S3Client;
  const Bucket = 'kept';

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  const put = (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket, Key, Body }));
  const setStatus = (Status: 'Enabled' | 'Suspended') =>
    client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
  const read = async (Key: string, VersionId?: string) => {
    const answer = await client.send(new GetObjectCommand({ Bucket, Key, ...(VersionId && { VersionId }) }));
    return await answer.Body?.transformToString();
  };

  it('reports no status and no version IDs until versioning is enabled', async () => {
    expect((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBeUndefined();
    expect((await put('before', 'x')).VersionId).toBeUndefined();
    await setStatus('Enabled');
    expect((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    await setStatus('Suspended');
    expect((await client.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Suspended');
    await setStatus('Enabled');
    const wrong = client.send(
      new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'On' as 'Enabled' } }),
    );
    expect(await catchRefusal(wrong)).toEqual({ code: 'MalformedXML', status: 400 });
  });

  it('returns every version by its ID, and hides the newest behind a delete marker', async () => {
    const [first, second] = [await put('doc', 'one'), await put('doc', 'two')];
    expect(await read('doc')).toBe('two');
    expect(await read('doc', first.VersionId)).toBe('one');
    const deleted = await client.send(new DeleteObjectCommand({ Bucket, Key: 'doc' }));
    expect(deleted).toMatchObject({ DeleteMarker: true });
    expect(await catchRefusal(client.send(new GetObjectCommand({ Bucket, Key: 'doc' })))).toEqual({
      code: 'NoSuchKey',
      status: 404,
    });
    const VersionId = deleted.VersionId ?? '';
    const marker = client.send(new HeadObjectCommand({ Bucket, Key: 'doc', VersionId }));
    expect(await catchRefusal(marker)).toMatchObject({ status: 405 });
    expect(await read('doc', second.VersionId)).toBe('two');
    const gone = await client.send(new DeleteObjectCommand({ Bucket, Key: 'doc', VersionId }));
    expect(gone).toMatchObject({ DeleteMarker: true, VersionId });
    expect(await read('doc')).toBe('two');
  });

  it('lists versions and markers in pages, and deletes many of them by ID', async () => {
    for (const body of ['1', '2', '3']) await put('list/a b', body);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'list/a b' }));
    const seen: { Key: string; VersionId: string }[] = [];
    let [KeyMarker, VersionIdMarker]: (string | undefined)[] = [];
    do {
      const page: ListObjectVersionsCommandOutput = await client.send(
        new ListObjectVersionsCommand({
          Bucket,
          Prefix: 'list/',
          MaxKeys: 1,
          ...(KeyMarker && { KeyMarker }),
          ...(VersionIdMarker && { VersionIdMarker }),
        }),
      );
      for (const { Key = '', VersionId = '', Owner } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
        seen.push({ Key, VersionId });
        expect(Owner?.ID).toBeDefined();
      }
      ({ NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page);
    } while (KeyMarker !== undefined);
    expect(seen).toHaveLength(4);
    const Objects = [...seen.slice(1), { Key: 'list/a b', ETag: 'another' }];
    const answer = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(answer.Deleted).toHaveLength(3);
    expect(answer.Errors).toMatchObject([{ Code: 'PreconditionFailed' }]);
    const left = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'list/' }));
    expect(left.DeleteMarkers).toMatchObject([{ VersionId: seen[0]?.VersionId, IsLatest: true }]);
    expect(left.Versions).toBeUndefined();
  });
});
