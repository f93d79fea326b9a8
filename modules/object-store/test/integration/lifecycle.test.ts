import { randomUUID } from 'node:crypto';
import { systemClock } from '@svc/runtime';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketLifecycleCommand,
  DeleteObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type LifecycleRule,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { unlimitedQuotas } from '@svc/quotas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LifecycleExecutor } from '../../src/domain/lifecycle/executor.ts';
import { createServices, type StoreServices } from '../../src/domain/services.ts';
import type { StoreDeps } from '../../src/domain/store-deps.ts';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { testConfig } from '../support/running-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

const DAY_MS = 86_400_000;

describe('lifecycle rules of a bucket', () => {
  let store: ClientStore;
  let client: S3Client;
  let offsetMs = 0;
  let number = 0;
  const clock = { ...systemClock, nowMs: () => Date.now() + offsetMs };

  beforeAll(async () => {
    store = await startClientStore({ clock, config: { trash_grace_seconds: 0 } });
    ({ client } = store);
  });
  afterAll(async () => {
    await store.close();
  });

  const makeBucket = async () => {
    const Bucket = `aging-${(number += 1)}`;
    await client.send(new CreateBucketCommand({ Bucket }));
    return Bucket;
  };
  const setRules = (Bucket: string, ...Rules: LifecycleRule[]) =>
    client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
  const executor = () => {
    const deps = {
      metadata: store.metadata,
      blobs: store.blobs,
      clock,
      config: testConfig({ trash_grace_seconds: 0 }),
      identifiers: { versionToken: () => randomUUID().replaceAll('-', '') },
      quotaLimits: unlimitedQuotas,
      log: { error: () => undefined },
    } as unknown as StoreDeps; // only what the executor uses
    const services: Pick<StoreServices, 'configurations' | 'objects' | 'multipart'> = createServicesFor(deps);
    return new LifecycleExecutor({ deps, ...services });
  };
  const runAfter = async (days: number) => {
    offsetMs += days * DAY_MS;
    // Client requests are signed with the machine clock, so the offset applies to this round only.
    const report = await executor().round(new AbortController().signal);
    offsetMs -= days * DAY_MS;
    return report;
  };
  const listKeys = async (Bucket: string) =>
    (await client.send(new ListObjectsV2Command({ Bucket }))).Contents?.map(({ Key }) => Key) ?? [];

  it('are returned as set, and rejected when invalid', async () => {
    const Bucket = await makeBucket();
    const read = () => client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
    expect(await catchRefusal(read())).toEqual({ code: 'NoSuchLifecycleConfiguration', status: 404 });
    const rules: LifecycleRule[] = [
      { ID: 'old', Prefix: 'old/', Status: 'Enabled', Expiration: { Days: 3 } },
      {
        ID: 'all',
        Status: 'Disabled',
        Filter: { And: { Prefix: 'a/', Tags: [{ Key: 'k', Value: 'v' }], ObjectSizeGreaterThan: 5 } },
        Expiration: { Date: new Date('2030-01-01T00:00:00Z') },
        NoncurrentVersionExpiration: { NoncurrentDays: 2, NewerNoncurrentVersions: 4 },
      },
      {
        ID: 'abort',
        Status: 'Enabled',
        Filter: { Prefix: 'b' },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      },
    ];
    await setRules(Bucket, ...rules);
    expect((await read()).Rules).toEqual(rules);
    const rule: LifecycleRule = { ID: 'x', Prefix: '', Status: 'Enabled', Expiration: { Days: 1 } };
    const refused = async (...wrong: LifecycleRule[]) => (await catchRefusal(setRules(Bucket, ...wrong))).code;
    expect(await refused(rule, rule)).toBe('InvalidArgument');
    expect(await refused({ ...rule, ID: 'i'.repeat(256) })).toBe('InvalidArgument');
    expect(await refused({ ...rule, Expiration: { Days: 0 } })).toBe('InvalidArgument');
    expect(await refused({ ...rule, Expiration: { Date: new Date('2030-01-01T01:00:00Z') } })).toBe('InvalidArgument');
    expect(await refused({ ...rule, Status: 'enabled' as 'Enabled' })).toBe('MalformedXML');
    expect(await refused({ ...rule, Filter: { Prefix: '' } })).toBe('MalformedXML');
    expect(await refused({ ...rule, Transitions: [{ Days: 1, StorageClass: 'GLACIER' }] })).toBe('NotImplemented');
    await client.send(new DeleteBucketLifecycleCommand({ Bucket }));
    expect(await catchRefusal(read())).toMatchObject({ status: 404 });
  });

  it('expire objects after the given days, and announce it in a header', async () => {
    const Bucket = await makeBucket();
    await setRules(Bucket, { ID: 'r 1', Filter: { Prefix: 'tmp/' }, Status: 'Enabled', Expiration: { Days: 2 } });
    for (const Key of ['tmp/a', 'tmp/b', 'kept']) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'tmp/a' }));
    expect(head.Expiration).toMatch(/^expiry-date="\w{3}, \d\d \w{3} \d{4} 00:00:00 GMT", rule-id="r\+1"$/);
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'kept' }))).Expiration).toBeUndefined();
    expect(await runAfter(1)).toMatchObject({ ran: true, expired: 0 });
    expect(await runAfter(3)).toMatchObject({ ran: true, expired: 2 });
    expect(await listKeys(Bucket)).toEqual(['kept']);
    expect((await store.module.fsck()).usageDrift).toEqual([]);
  });

  it('remove noncurrent versions, and then the delete markers left alone', async () => {
    const Bucket = await makeBucket();
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    for (const Body of ['1', '2', '3']) await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'b' }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
    const noncurrent = { NoncurrentVersionExpiration: { NoncurrentDays: 1, NewerNoncurrentVersions: 1 } };
    await setRules(Bucket, { ID: 'n', Prefix: 'a', Status: 'Enabled', ...noncurrent });
    expect(await runAfter(3)).toMatchObject({ expired: 1 });
    const all = { NoncurrentVersionExpiration: { NoncurrentDays: 1 }, Expiration: { ExpiredObjectDeleteMarker: true } };
    await setRules(Bucket, { ID: 'n', Prefix: '', Status: 'Enabled', ...all });
    expect(await runAfter(3)).toMatchObject({ expired: 2 });
    expect(await runAfter(3)).toMatchObject({ expired: 1 });
    const left = await client.send(new ListObjectVersionsCommand({ Bucket }));
    expect(left.Versions).toMatchObject([{ Key: 'a', IsLatest: true }]);
    expect(left.DeleteMarkers).toBeUndefined();
  });

  it('abort incomplete uploads: by a rule, or after a week without one', async () => {
    const [ruled, other] = [await makeBucket(), await makeBucket()];
    const uploads = async (Bucket: string) =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.length ?? 0;
    for (const Bucket of [ruled, other]) await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'up' }));
    const AbortIncompleteMultipartUpload = { DaysAfterInitiation: 20 };
    await setRules(ruled, { ID: 'u', Prefix: '', Status: 'Enabled', AbortIncompleteMultipartUpload });
    await runAfter(6);
    expect([await uploads(ruled), await uploads(other)]).toEqual([1, 1]);
    await runAfter(8);
    expect([await uploads(ruled), await uploads(other)]).toEqual([1, 0]);
    await runAfter(22);
    expect(await uploads(ruled)).toBe(0);
  });

  it('expire only objects that match the whole filter, at a date too, and keep locked versions', async () => {
    const Bucket = `aging-${(number += 1)}`;
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const put = (Key: string, more: Partial<PutObjectCommandInput> = {}) =>
      client.send(new PutObjectCommand({ Bucket, Key, Body: 'x'.repeat(100), ...more }));
    const locked = {
      ObjectLockMode: 'COMPLIANCE',
      ObjectLockRetainUntilDate: new Date(clock.nowMs() + 90 * DAY_MS),
    } as const;
    await put('tagged', { Tagging: 'kind=old' });
    await put('tagged-otherwise', { Tagging: 'kind=new' });
    await put('small', { Tagging: 'kind=old', Body: 'x' });
    await put('locked', { Tagging: 'kind=old', ...locked });
    const Filter = { And: { Tags: [{ Key: 'kind', Value: 'old' }], ObjectSizeGreaterThan: 50 } };
    const date = new Date(Math.ceil(clock.nowMs() / DAY_MS + 1) * DAY_MS);
    const rule = { Filter, Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: 1 } } as const;
    await setRules(Bucket, { ID: 'd', ...rule, Expiration: { Date: date } });
    expect(await runAfter(0)).toMatchObject({ expired: 0 });
    expect(await runAfter(3)).toMatchObject({ expired: 2 });
    expect(await listKeys(Bucket)).toEqual(['small', 'tagged-otherwise']);
    expect(await runAfter(6)).toMatchObject({ expired: 1 });
    const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket }));
    expect(Versions?.map(({ Key }) => Key)).toEqual(['locked', 'small', 'tagged-otherwise']);
  });

  it('page through a bucket whose keys have more versions than a page', async () => {
    const Bucket = await makeBucket();
    const bucket = await store.metadata.findBucket({ name: Bucket });
    const bucketId = bucket?.id ?? 0;
    await store.metadata.setVersioning({ bucketId, versioning: 'enabled' });
    const one = {
      bucketId,
      content: { kind: 'empty' } as const,
      sizeBytes: 0,
      etag: 'e',
      attributes: { contentType: 'x' },
      checksum: null,
      conditions: {},
      trashDueAtMs: 1,
    };
    const keys = [...Array.from({ length: 1_500 }, () => 'many'), ...Array.from({ length: 700 }, (_, at) => `z${at}`)];
    await Promise.all(
      keys.map((key) =>
        store.metadata.putObject({ ...one, key, nowMs: clock.nowMs(), versionToken: randomUUID().replaceAll('-', '') }),
      ),
    );
    const noncurrent = { NoncurrentDays: 1, NewerNoncurrentVersions: 20 };
    await setRules(Bucket, { ID: 'n', Prefix: '', Status: 'Enabled', NoncurrentVersionExpiration: noncurrent });
    expect(await runAfter(3)).toMatchObject({ expired: 1_500 - 1 - 20 });
    const left = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'many' }));
    expect(left.Versions).toHaveLength(21);
  });

  it('are applied by one replica at a time, and an interrupted run resumes where it stopped', async () => {
    const Bucket = await makeBucket();
    await setRules(Bucket, { ID: 'r', Prefix: '', Status: 'Enabled', Expiration: { Days: 1 } });
    for (const Key of ['a', 'b', 'c']) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const later = clock.nowMs() + 3 * DAY_MS;
    const lease = { name: 'lifecycle', holder: 'another', nowMs: later, untilMs: later + 60_000 };
    expect(await store.metadata.takeLease(lease)).toBe(true);
    expect(await runAfter(3)).toMatchObject({ ran: false });
    await store.metadata.releaseLease(lease);
    const bucket = await store.metadata.findBucket({ name: Bucket });
    const value = JSON.stringify({ bucketId: bucket?.id, prefix: '', key: 'a' });
    await store.metadata.setStoreProperty({ name: 'lifecycle-position', value });
    expect(await runAfter(3)).toMatchObject({ ran: true, expired: 2 });
    expect(await listKeys(Bucket)).toEqual(['a']);
    expect(await runAfter(3)).toMatchObject({ expired: 1 });
  });
});

function createServicesFor(deps: StoreDeps): Pick<StoreServices, 'configurations' | 'objects' | 'multipart'> {
  return createServices(deps);
}
