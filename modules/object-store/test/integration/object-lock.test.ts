import { randomUUID } from 'node:crypto';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectLockConfigurationCommand,
  HeadObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { fakeClock } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const DAY_MS = 86_400_000;
const denied = { code: 'AccessDenied', status: 403 };

describe('object lock over S3', () => {
  const clock = fakeClock(new Date().toISOString());
  const workspaceUuid = randomUUID();
  let store: ClientStore;
  let client: S3Client;
  let editor: S3Client;
  const Bucket = 'locked';
  const Key = 'ledger';

  beforeAll(async () => {
    store = await startClientStore({ workspaceUuid, client: { systemClockOffset: 0 }, clock });
    ({ client } = store);
    editor = sdkClient(store, await store.createKey({ workspaceUuid, permissions: ['read', 'write'] }));
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  });
  afterAll(async () => {
    editor.destroy();
    await store.close();
  });

  const until = (days: number): Date => new Date(Math.floor(clock.nowMs() / 1_000) * 1_000 + days * DAY_MS);

  it('enables versioning from the start and never suspends it', async () => {
    const suspend = { Bucket, VersioningConfiguration: { Status: 'Suspended' } } as const;
    const refused = { code: 'InvalidBucketState', status: 409 };
    expect(await catchRefusal(client.send(new PutBucketVersioningCommand(suspend)))).toEqual(refused);
  });

  it('protects a retained version from everyone but an administrator who bypasses governance', async () => {
    const ObjectLockRetainUntilDate = until(2);
    const put = new PutObjectCommand({
      Bucket,
      Key,
      Body: 'x',
      ObjectLockMode: 'GOVERNANCE',
      ObjectLockRetainUntilDate,
    });
    const { VersionId } = await client.send(put);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate });
    const name = { Bucket, Key, VersionId };
    expect(await catchRefusal(client.send(new DeleteObjectCommand(name)))).toEqual(denied);
    const bypass = { ...name, BypassGovernanceRetention: true };
    expect(await catchRefusal(editor.send(new DeleteObjectCommand(bypass)))).toEqual(denied);
    const many = { Bucket, Delete: { Objects: [{ Key, VersionId }] } };
    const answer = await client.send(new DeleteObjectsCommand(many));
    expect(answer.Errors).toMatchObject([{ Key, VersionId, Code: 'AccessDenied' }]);
    await client.send(new DeleteObjectCommand(bypass));
  });

  it('protects compliance retention and legal holds from everyone, even from a bucket deletion', async () => {
    const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: until(1) } as const;
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
    const name = { Bucket, Key, VersionId };
    await client.send(new PutObjectRetentionCommand({ ...name, Retention }));
    const shorter = {
      ...name,
      Retention: { ...Retention, Mode: 'GOVERNANCE' as const },
      BypassGovernanceRetention: true,
    };
    expect(await catchRefusal(client.send(new PutObjectRetentionCommand(shorter)))).toEqual(denied);
    await client.send(new PutObjectLegalHoldCommand({ ...name, LegalHold: { Status: 'ON' } }));
    const bypass = new DeleteObjectCommand({ ...name, BypassGovernanceRetention: true });
    expect(await catchRefusal(client.send(bypass))).toEqual(denied);
    const bucket = await store.metadata.findBucket({ name: Bucket });
    const soft = { bucketId: bucket?.id ?? 0, nowMs: clock.nowMs(), purgeAtMs: clock.nowMs() };
    await expect(store.metadata.softDeleteBucket(soft)).rejects.toMatchObject({ code: 'InvalidBucketState' });
    await client.send(new PutObjectLegalHoldCommand({ ...name, LegalHold: { Status: 'OFF' } }));
    expect(await catchRefusal(client.send(new DeleteObjectCommand(name)))).toEqual(denied);
    const later = { bucketId: bucket?.id ?? 0, key: Key, versionToken: 't', trashDueAtMs: 0, conditions: {} };
    const versionId = VersionId ?? '';
    await store.metadata.deleteObject({ ...later, versionId, nowMs: clock.nowMs() + 3 * DAY_MS });
  });

  it('does not let a writer add or lift a lock', async () => {
    const name = { Bucket, Key: 'held' };
    const { VersionId } = await client.send(
      new PutObjectCommand({ ...name, Body: 'x', ObjectLockLegalHoldStatus: 'ON' }),
    );
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: until(1) } as const;
    const lift = new PutObjectLegalHoldCommand({ ...name, VersionId, LegalHold: { Status: 'OFF' } });
    expect(await catchRefusal(editor.send(lift))).toEqual(denied);
    expect(await catchRefusal(editor.send(new PutObjectRetentionCommand({ ...name, Retention })))).toEqual(denied);
    const hold = new PutObjectCommand({ ...name, Body: 'y', ObjectLockLegalHoldStatus: 'ON' });
    expect(await catchRefusal(editor.send(hold))).toEqual(denied);
    expect((await client.send(new HeadObjectCommand(name))).ObjectLockLegalHoldStatus).toBe('ON');
    await editor.send(new PutObjectCommand({ ...name, Body: 'y' }));
  });

  it('applies the default retention of the bucket to new versions', async () => {
    const rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 3 } } as const;
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule: rule } as const;
    await client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    const shown = await client.send(new GetObjectLockConfigurationCommand({ Bucket }));
    expect(shown.ObjectLockConfiguration).toEqual(ObjectLockConfiguration);
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key: 'default', Body: 'x' }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'default' }));
    expect(head.ObjectLockRetainUntilDate?.getTime()).toBe(clock.nowMs() + 3 * DAY_MS);
    expect(await catchRefusal(client.send(new DeleteObjectCommand({ Bucket, Key: 'default', VersionId })))).toEqual(
      denied,
    );
  });

  it('locks a copy by its own headers, never like its source', async () => {
    const ObjectLockRetainUntilDate = until(2);
    const mode = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate } as const;
    await client.send(new PutObjectCommand({ Bucket, Key: 'source', Body: 'x', ObjectLockLegalHoldStatus: 'ON' }));
    const copy = new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/source`, ...mode });
    const { VersionId } = await client.send(copy);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'copy' }));
    expect(head).toMatchObject(mode);
    expect(head.ObjectLockLegalHoldStatus).toBeUndefined();
    expect(await catchRefusal(client.send(new DeleteObjectCommand({ Bucket, Key: 'copy', VersionId })))).toEqual(
      denied,
    );
  });

  it('rejects locks in a bucket without object lock', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'plain' }));
    const put = new PutObjectCommand({ Bucket: 'plain', Key, Body: 'x', ObjectLockLegalHoldStatus: 'ON' });
    expect(await catchRefusal(client.send(put))).toEqual({ code: 'InvalidRequest', status: 400 });
    const missing = { code: 'ObjectLockConfigurationNotFoundError', status: 404 };
    expect(await catchRefusal(client.send(new GetObjectLockConfigurationCommand({ Bucket: 'plain' })))).toEqual(
      missing,
    );
  });
});
