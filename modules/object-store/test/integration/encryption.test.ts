import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
  type ServerSideEncryptionByDefault,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

const MiB = 1024 * 1024;

function customerKey(): { SSECustomerAlgorithm: string; SSECustomerKey: string; SSECustomerKeyMD5: string } {
  const key = randomBytes(32);
  const md5 = createHash('md5').update(key).digest('base64');
  return { SSECustomerAlgorithm: 'AES256', SSECustomerKey: key.toString('base64'), SSECustomerKeyMD5: md5 };
}

describe('encryption at rest', () => {
  let store: ClientStore;
  let client: S3Client;
  const Bucket = 'sealed';
  const marker = 'THIS-MUST-NOT-BE-READABLE-ON-THE-DISK';

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket, config: { kms_key_ids: ['main'] } });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  async function read(Key: string, extra: Record<string, string> = {}): Promise<Buffer> {
    const answer = await client.send(new GetObjectCommand({ Bucket, Key, ...extra }));
    return Buffer.from((await answer.Body?.transformToByteArray()) ?? []);
  }

  async function onDisk(text: string): Promise<boolean> {
    const entries = await readdir(store.folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name))).includes(text)) return true;
    }
    return false;
  }

  it.each([0, 1, 1_000, 65_536, 65_537, 3 * MiB])(
    'returns %i bytes under each encryption mode, whole and in ranges',
    async (size) => {
      const Body = Buffer.concat([Buffer.from(marker), randomBytes(size)]).subarray(
        -size || undefined,
        size === 0 ? 0 : undefined,
      );
      const kinds = [
        { ServerSideEncryption: 'AES256' as const },
        { ServerSideEncryption: 'aws:kms' as const, SSEKMSKeyId: 'main' },
      ];
      for (const kind of kinds) {
        const put = await client.send(new PutObjectCommand({ Bucket, Key: 'object', Body, ...kind }));
        expect(put.ServerSideEncryption).toBe(kind.ServerSideEncryption);
        expect((await read('object')).equals(Body)).toBe(true);
        if (size > 70_000) {
          const part = await read('object', { Range: 'bytes=65530-131080' });
          expect(part.equals(Body.subarray(65_530, 131_081))).toBe(true);
        }
        const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'object' }));
        expect(head).toMatchObject({ ServerSideEncryption: kind.ServerSideEncryption, ContentLength: size });
      }
      const key = customerKey();
      const put = await client.send(new PutObjectCommand({ Bucket, Key: 'own', Body, ...key }));
      expect(put.SSECustomerKeyMD5).toBe(key.SSECustomerKeyMD5);
      expect(put.ETag).not.toContain(createHash('md5').update(Body).digest('hex'));
      expect((await read('own', key)).equals(Body)).toBe(true);
    },
  );

  it('writes neither plaintext nor customer keys to disk', async () => {
    const key = customerKey();
    await client.send(new PutObjectCommand({ Bucket, Key: 'small', Body: marker, ...key }));
    const large = Buffer.alloc(200_000, marker);
    await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large, ServerSideEncryption: 'AES256' }));
    await store.module.maintain();
    expect(await onDisk(marker)).toBe(false);
    expect(await onDisk(key.SSECustomerKey)).toBe(false);
    expect(await onDisk(key.SSECustomerKeyMD5)).toBe(false);
    expect((await store.module.fsck()).clean).toBe(true);
  });

  it('rejects an SSE-C object without its key or with another, and a key for an object that has none', async () => {
    const key = customerKey();
    await client.send(new PutObjectCommand({ Bucket, Key: 'own', Body: 'x', ...key }));
    await client.send(new DeleteBucketEncryptionCommand({ Bucket }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'x' }));
    const rule = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' as const } };
    const ServerSideEncryptionConfiguration = { Rules: [rule] };
    await client.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration }));
    const invalid = { code: 'InvalidRequest', status: 400 };
    expect(await catchRefusal(client.send(new GetObjectCommand({ Bucket, Key: 'own' })))).toEqual(invalid);
    expect(await catchRefusal(client.send(new GetObjectCommand({ Bucket, Key: 'own', ...customerKey() })))).toEqual(
      invalid,
    );
    expect(await catchRefusal(client.send(new GetObjectCommand({ Bucket, Key: 'plain', ...key })))).toEqual(invalid);
    expect((await catchRefusal(client.send(new HeadObjectCommand({ Bucket, Key: 'own' })))).status).toBe(400);
  });

  it('rejects two modes at once, an unknown algorithm and an unknown KMS key', async () => {
    const key = customerKey();
    const put = (extra: object) =>
      catchRefusal(client.send(new PutObjectCommand({ Bucket, Key: 'bad', Body: 'x', ...extra })));
    expect(await put({ ...key, SSECustomerAlgorithm: 'AES128' })).toMatchObject({
      code: 'InvalidEncryptionAlgorithmError',
    });
    expect(await put({ ...key, ServerSideEncryption: 'AES256' })).toMatchObject({ code: 'InvalidArgument' });
    expect(await put({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'other' })).toMatchObject({
      code: 'InvalidArgument',
    });
    expect(await put({ ServerSideEncryption: 'aws:kms' })).toMatchObject({ code: 'InvalidArgument' });
    expect(await put({ SSEKMSKeyId: 'main' })).toMatchObject({ code: 'InvalidArgument' });
  });

  it('encrypts the parts of an upload, and rejects a part without the key or with another', async () => {
    const key = customerKey();
    const Key = 'parts';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...key }));
    const bodies = [randomBytes(5 * MiB + 1), randomBytes(100_001)];
    const name = { Bucket, Key, UploadId };
    const refused = { code: 'InvalidRequest', status: 400 };
    const Body = randomBytes(1_000);
    expect(await catchRefusal(client.send(new UploadPartCommand({ ...name, PartNumber: 1, Body })))).toEqual(refused);
    const other = client.send(new UploadPartCommand({ ...name, PartNumber: 1, Body, ...customerKey() }));
    expect(await catchRefusal(other)).toEqual(refused);
    const Parts = [];
    for (const [index, part] of bodies.entries()) {
      const sent = await client.send(new UploadPartCommand({ ...name, PartNumber: index + 1, Body: part, ...key }));
      Parts.push({ PartNumber: index + 1, ETag: sent.ETag });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...name, MultipartUpload: { Parts } }));
    const whole = Buffer.concat(bodies);
    expect((await read(Key, key)).equals(whole)).toBe(true);
    const across = await read(Key, { ...key, Range: `bytes=${5 * MiB - 10}-${5 * MiB + 70_000}` });
    expect(across.equals(whole.subarray(5 * MiB - 10, 5 * MiB + 70_001))).toBe(true);
    expect((await store.module.fsck()).clean).toBe(true);
  });

  it('applies the default encryption of the bucket', async () => {
    const missing = { code: 'ServerSideEncryptionConfigurationNotFoundError', status: 404 };
    const fresh = await client.send(new GetBucketEncryptionCommand({ Bucket }));
    expect(fresh.ServerSideEncryptionConfiguration?.Rules).toEqual([
      { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' }, BucketKeyEnabled: false },
    ]);
    const first = await client.send(new PutObjectCommand({ Bucket, Key: 'first', Body: marker }));
    expect(first.ServerSideEncryption).toBe('AES256');
    const rules = (by: ServerSideEncryptionByDefault) => ({
      Bucket,
      ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault: by }] },
    });
    await client.send(new PutBucketEncryptionCommand(rules({ SSEAlgorithm: 'aws:kms', KMSMasterKeyID: 'main' })));
    const put = await client.send(new PutObjectCommand({ Bucket, Key: 'default', Body: marker }));
    expect(put).toMatchObject({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'main' });
    await client.send(new PutBucketEncryptionCommand(rules({ SSEAlgorithm: 'AES256' })));
    const { ServerSideEncryptionConfiguration: shown } = await client.send(new GetBucketEncryptionCommand({ Bucket }));
    expect(shown?.Rules?.[0]?.ApplyServerSideEncryptionByDefault).toEqual({ SSEAlgorithm: 'AES256' });
    expect(
      (await client.send(new PutObjectCommand({ Bucket, Key: 'default', Body: marker }))).ServerSideEncryption,
    ).toBe('AES256');
    expect((await read('default')).toString()).toBe(marker);
    await client.send(new DeleteBucketEncryptionCommand({ Bucket }));
    expect(await catchRefusal(client.send(new GetBucketEncryptionCommand({ Bucket })))).toEqual(missing);
    expect(
      (await client.send(new PutObjectCommand({ Bucket, Key: 'default', Body: 'x' }))).ServerSideEncryption,
    ).toBeUndefined();
  });
});
