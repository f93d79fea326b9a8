import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '@svc/runtime';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { openBlobStore } from '@svc/object-store';
import { describeBlobStore } from '@svc/object-store/testing/blob-store-contract';
import { startStore, testConfig, type RunningStore } from '@svc/object-store/testing/running-store';
import { catchRefusal, sdkClient } from '@svc/object-store/testing/s3-client';
import { describeRequiring, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCeph, type Ceph } from './start.ts';

const UPSTREAM_BUCKET = 'svc-blobs';
const MiB = 1024 * 1024;

describeRequiring(
  ['linux', 'command:ceph-mon', 'command:ceph-osd', 'command:ceph', 'command:radosgw'],
  'the object store on a Ceph RADOS gateway',
  () => {
    let ceph: Ceph;
    beforeAll(async () => {
      ceph = await startCeph();
      const upstream = upstreamClient(ceph);
      await upstream.send(new CreateBucketCommand({ Bucket: UPSTREAM_BUCKET }));
      upstream.destroy();
    });
    afterAll(() => ceph.stop());

    describe('as a blob store', () => {
      describeBlobStore(async () => {
        const config = configFor(ceph, randomUUID());
        const store = await openBlobStore(config, { folder: '', random: randomBytes, clock: systemClock });
        return { store, close: () => store.close() };
      });
    });

    describe('through the S3 plane', () => {
      let folder: TemporaryFolder;
      let store: RunningStore;
      let client: S3Client;
      const workspaceUuid = randomUUID();
      const Bucket = 'walk';
      beforeAll(async () => {
        folder = await temporaryFolder();
        store = await startStore(folder.path, { config: configFor(ceph, 'walk') });
        client = sdkClient(store, await store.createKey({ workspaceUuid }));
        await client.send(new CreateBucketCommand({ Bucket }));
      });
      afterAll(async () => {
        client.destroy();
        await store.close();
        await folder.remove();
      });
      const read = async (Key: string, Range?: string): Promise<Buffer> => {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      };

      it('puts, ranges, lists, replaces, uploads in parts and deletes, and blobs and rows agree', async () => {
        const body = randomBytes(20 * MiB + 3);
        await client.send(new PutObjectCommand({ Bucket, Key: 'a/large', Body: body }));
        await client.send(new PutObjectCommand({ Bucket, Key: 'a/small', Body: 'small' }));
        expect((await read('a/large')).equals(body)).toBe(true);
        expect((await read('a/large', 'bytes=8388600-8388620')).equals(body.subarray(8_388_600, 8_388_621))).toBe(true);
        expect((await read('a/large', 'bytes=-7')).equals(body.subarray(-7))).toBe(true);

        const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'b/parts' }));
        const Parts = [];
        for (const [index, Body] of [body.subarray(0, 9 * MiB), body.subarray(9 * MiB)].entries()) {
          const part = { Bucket, Key: 'b/parts', UploadId, PartNumber: index + 1, Body };
          const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(part));
          Parts.push({ PartNumber: index + 1, ETag, ChecksumCRC32 });
        }
        await client.send(
          new CompleteMultipartUploadCommand({ Bucket, Key: 'b/parts', UploadId, MultipartUpload: { Parts } }),
        );
        expect((await read('b/parts')).equals(body)).toBe(true);
        expect((await read('b/parts', 'bytes=9437180-9437190')).equals(body.subarray(9_437_180, 9_437_191))).toBe(true);
        const left = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'c' }));
        await client.send(
          new UploadPartCommand({ Bucket, Key: 'c', UploadId: left.UploadId, PartNumber: 1, Body: body }),
        );
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'c', UploadId: left.UploadId }));

        const listed = await client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }));
        expect(listed.CommonPrefixes?.map(({ Prefix }) => Prefix)).toEqual(['a/', 'b/']);
        const replaced = randomBytes(200_000);
        await client.send(new PutObjectCommand({ Bucket, Key: 'a/large', Body: replaced }));
        expect((await read('a/large')).equals(replaced)).toBe(true);
        await client.send(new DeleteObjectCommand({ Bucket, Key: 'b/parts' }));
        expect(await store.module.fsck()).toMatchObject({ clean: true });
        await store.module.maintain();
        expect(await store.module.fsck()).toMatchObject({ clean: true, blobsFound: 1 });
      });

      it('names each blob after its workspace and bucket', async () => {
        const upstream = upstreamClient(ceph);
        const { Contents = [] } = await upstream.send(
          new ListObjectsV2Command({ Bucket: UPSTREAM_BUCKET, Prefix: `walk/blobs/${workspaceUuid}/` }),
        );
        upstream.destroy();
        const bucket = await store.metadata.findBucket({ name: Bucket });
        expect(Contents.map(({ Key }) => Key?.split('/').slice(2, 4))).toEqual([
          [workspaceUuid, bucket?.id.toString(36)],
        ]);
      });

      it('answers 503 with Retry-After while the engine is down, loses nothing, and recovers by itself', async () => {
        const body = randomBytes(3 * MiB);
        const answered: string[] = [];
        let refusals = 0;
        const stop = new AbortController();
        const writers = Array.from({ length: 4 }, async (_, writer) => {
          for (let index = 0; !stop.signal.aborted; index += 1) {
            const Key = `load/${writer}/${index}`;
            const { code, status } = await catchRefusal(client.send(new PutObjectCommand({ Bucket, Key, Body: body })));
            if (code === 'none') answered.push(Key);
            else {
              expect({ code, status }).toEqual({ code: 'ProviderUnavailable', status: 503 });
              refusals += 1;
            }
          }
        });
        await waitFor(async () => answered.length > 4, { timeoutMs: 60_000, description: 'some writes' });
        await ceph.stopGateway();
        await waitFor(async () => refusals > 8, { timeoutMs: 60_000, description: 'refusals' });
        const retryAfter = await client
          .send(new GetObjectCommand({ Bucket, Key: answered[0] }))
          .catch((error: unknown) => (error as { $response?: { headers: object } }).$response?.headers);
        expect(retryAfter).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/) });
        // Requests without object bytes still succeed.
        await client.send(new HeadObjectCommand({ Bucket, Key: answered[0] }));
        await client.send(new PutObjectCommand({ Bucket, Key: 'inline', Body: 'in the row' }));
        await expect(store.module.sharedReadiness['object_engine']?.()).rejects.toMatchObject({
          code: 'ProviderUnavailable',
        });
        const before = answered.length;
        await ceph.startGateway();
        await waitFor(async () => answered.length > before + 4, { timeoutMs: 60_000, description: 'writes again' });
        stop.abort();
        await Promise.all(writers);
        for (const Key of answered) expect((await read(Key)).equals(body)).toBe(true);
        await store.module.maintain();
        expect(await store.module.fsck()).toMatchObject({ clean: true });
      });
    });
  },
);

function configFor(ceph: Ceph, prefix: string): ReturnType<typeof testConfig> {
  const config = testConfig({ engine: 's3', trash_grace_seconds: 0, sweep_grace_seconds: 0 });
  const { endpoint, accessKeyId, secretAccessKey } = ceph;
  const keys = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  return { ...config, s3: { ...config.s3, ...keys, endpoint, bucket: UPSTREAM_BUCKET, prefix } };
}

function upstreamClient({ endpoint, accessKeyId, secretAccessKey }: Ceph): S3Client {
  const credentials = { accessKeyId, secretAccessKey };
  return new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
}
