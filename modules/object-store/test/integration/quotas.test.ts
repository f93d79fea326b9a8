import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const Bucket = 'small';
const FULL = { code: 'QuotaExceeded', status: 403 };

describe('bucket quotas and limits over S3', () => {
  let management: RunningManagement;
  let client: S3Client;
  beforeEach(async () => {
    management = await startManagement({}, new Date().toISOString());
    const { store, owner } = management;
    await management.call('POST', '/buckets', { body: { name: Bucket } });
    client = sdkClient(store, await store.createKey({ workspaceUuid: owner.workspaceUuid }));
  });
  afterEach(async () => {
    client.destroy();
    await management.close();
  });

  const settings = (body: object) => management.call('PUT', `/buckets/${Bucket}/settings`, { body });
  const put = (Key: string, bytes: number, more: object = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(bytes), ...more }));
  const usage = async () => (await management.store.module.state(management.tenantId)).bytes;

  it('reject what does not fit, name the limit and the remedy, and accept it when there is room again', async () => {
    await settings({ quota: { max_bytes: 1_000 } });
    await put('a', 600);
    const refused = put('b', 500);
    await expect(refused).rejects.toThrow('its quota of bytes is 1000. Delete objects, or raise the quota');
    expect(await catchRefusal(put('b', 500))).toEqual(FULL);
    const copy = new CopyObjectCommand({ Bucket, Key: 'b', CopySource: `${Bucket}/a` });
    expect(await catchRefusal(client.send(copy))).toEqual(FULL);
    expect(await usage()).toBe(600);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    await put('b', 500);
    await settings({ quota: { max_bytes: null, max_objects: 1 } });
    expect(await catchRefusal(put('c', 0))).toEqual(FULL);
    await settings({ quota: null });
    await put('c', 5_000);
    expect(await usage()).toBe(5_500);
  });

  it('admit exactly as many concurrent writes as fit', async () => {
    await settings({ quota: { max_objects: 5 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => put(`key-${index}`, 10)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await usage()).toBe(50);
    expect((await management.store.module.fsck()).usageDrift).toEqual([]);
  });

  it('apply to multipart uploads, whose parts count only on completion', async () => {
    await settings({ quota: { max_bytes: 1_000 } });
    const upload = { Bucket, Key: 'large' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    const part = (bytes: number) =>
      client.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: Buffer.alloc(bytes) }));
    expect(await catchRefusal(part(1_001))).toEqual(FULL);
    const { ETag } = await part(900);
    await put('other', 200);
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    const complete = () => client.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    expect(await catchRefusal(complete())).toEqual(FULL);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'other' }));
    await complete();
    expect(await usage()).toBe(900);
  });

  it('reject oversized objects and disallowed types', async () => {
    await settings({ max_object_size: 100, allowed_content_types: ['image/*'] });
    const image = { ContentType: 'image/png' };
    await put('a.png', 100, image);
    expect(await catchRefusal(put('b.png', 101, image))).toEqual({ code: 'EntityTooLarge', status: 400 });
    const text = put('b.txt', 1, { ContentType: 'text/plain' });
    expect(await catchRefusal(text)).toEqual({ code: 'InvalidRequest', status: 400 });
  });

  it.each([
    ['referred to', 'none'],
    ['rewritten', 'sse-s3'],
  ])('reject oversized copied parts that are %s, as uploaded ones', async (_, mode) => {
    await management.call('POST', '/buckets', { body: { name: mode, encryption_mode: mode } });
    await client.send(new PutObjectCommand({ Bucket: mode, Key: 'source', Body: Buffer.alloc(200_000) }));
    await management.call('PUT', `/buckets/${mode}/settings`, { body: { max_object_size: 150_000 } });
    const upload = { Bucket: mode, Key: 'target' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    const part = { ...upload, UploadId, PartNumber: 1 };
    const copied = (CopySourceRange: string) =>
      client.send(new UploadPartCopyCommand({ ...part, CopySource: `${mode}/source`, CopySourceRange }));
    const tooLarge = { code: 'EntityTooLarge', status: 400 };
    const uploaded = client.send(new UploadPartCommand({ ...part, Body: Buffer.alloc(150_001) }));
    expect(await catchRefusal(uploaded)).toEqual(tooLarge);
    expect(await catchRefusal(copied('bytes=0-150000'))).toEqual(tooLarge);
    await copied('bytes=0-149999');
  });
});

describe('the trash of a workspace', () => {
  it('counts as usage, and can be emptied by anyone who may delete objects', async () => {
    const management = await startManagement({}, new Date().toISOString());
    try {
      const { store, owner, access, tenantId } = management;
      await management.call('POST', '/buckets', { body: { name: Bucket } });
      const body = Buffer.alloc(200_000);
      await management.call('PUT', `/buckets/${Bucket}/objects/content?key=a`, { body });
      await management.call('DELETE', `/buckets/${Bucket}/objects?key=a`);
      expect(await store.metadata.quotaUsage({ workspaceUuid: tenantId })).toMatchObject({ stored_bytes: 200_000 });
      const reader = access.serviceAccount(tenantId, ['read']);
      expect((await management.call('DELETE', '/trash', { as: reader })).status).toBe(403);
      expect((await management.call('DELETE', '/trash', { as: access.user('stranger') })).status).toBe(404);
      expect((await management.call('DELETE', '/trash', { as: null })).status).toBe(401);
      const emptied = await management.call('DELETE', '/trash', { as: owner });
      expect(emptied).toMatchObject({ status: 200, body: { data: { entries: 1, bytes: 200_000 } } });
      await store.module.maintain();
      expect(await store.metadata.quotaUsage({ workspaceUuid: tenantId })).toMatchObject({ stored_bytes: 0 });
      expect((await store.module.fsck()).clean).toBe(true);
    } finally {
      await management.close();
    }
  });
});
