import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import { testConfig } from '../support/running-store.ts';

describe('usage', () => {
  let management: RunningManagement;
  beforeAll(async () => {
    const limits = { ...testConfig().limits, part_min_bytes: 5, management_requests_per_second: 10_000 };
    management = await startManagement({ trash_grace_seconds: 0, limits });
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
    await management.call('POST', '/buckets', { body: { name: 'other' } });
  });
  afterAll(() => management.close());

  const objects = '/buckets/photos/objects';
  const put = async (key: string, content: string): Promise<void> => {
    const body = Buffer.from(content);
    expect((await management.call('PUT', `${objects}/content?key=${key}`, { body })).status).toBe(201);
  };
  const expectUsage = async (objectCount: number, sizeBytes: number): Promise<void> => {
    const { usage } = (await management.call('GET', '')).body.data as { usage: object };
    const { buckets } = (await management.call('GET', '/buckets')).body.data as { buckets: { name: string }[] };
    const counts = { object_count: objectCount, size_bytes: sizeBytes };
    expect(usage).toEqual({ buckets: 2, ...counts });
    expect(buckets.find(({ name }) => name === 'photos')).toMatchObject(counts);
    expect(buckets.find(({ name }) => name === 'other')).toMatchObject({ object_count: 0, size_bytes: 0 });
  };

  it('tracks every change of stored data to the byte', async () => {
    await expectUsage(0, 0);
    await put('a', '12345');
    await put('b', '123');
    await expectUsage(2, 8);
    await put('a', '1');
    await expectUsage(2, 4);
    await put('large', 'x'.repeat(100_000));
    await expectUsage(3, 100_004);
    await management.call('POST', `${objects}/delete`, { body: { keys: ['large', 'absent'] } });
    await expectUsage(2, 4);
    await management.call('POST', '/buckets/photos/folders', { body: { path: 'c/' } });
    await expectUsage(3, 4);
    await management.call('DELETE', `${objects}?key=c%2F`);
    const begun = await management.call('POST', `${objects}/multipart`, { body: { key: 'whole' } });
    const upload = `${objects}/multipart/${String(begun.body.data['uploadId'])}`;
    for (const n of [1, 2]) await management.call('PUT', `${upload}/parts/${n}`, { body: Buffer.from('hello') });
    await expectUsage(2, 4);
    expect((await management.call('POST', `${upload}/complete`, { body: {} })).status).toBe(200);
    await expectUsage(3, 14);
    await management.call('PUT', '/buckets/photos/versioning', { body: { status: 'enabled' } });
    await put('whole', 'replaced');
    expect((await management.call('GET', '')).body.data).toMatchObject({ usage: { size_bytes: 22 } });
    await management.call('DELETE', '/buckets/other');
    expect((await management.call('GET', '')).body.data).toMatchObject({ usage: { buckets: 1, size_bytes: 22 } });
  });
});
