import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeBuckets } from '../support/fake-buckets.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('forks of sandboxes that mount buckets', () => {
  let driver: FakeDriver;
  let buckets: FakeBuckets;
  let platform: TestPlatform;
  let id: string;
  const names = (): string[] => [...buckets.ids.keys()].map((key) => key.split('/')[1] ?? '').toSorted();
  const bucketsOf = ({ mounts }: { mounts: { bucket: string }[] }) => mounts.map(({ bucket }) => bucket);

  beforeEach(async () => {
    driver = new FakeDriver();
    buckets = new FakeBuckets();
    platform = await startPlatform({ driver, buckets });
    buckets.ids.set(`${platform.owner.workspaceUuid}/photos`, 7);
    buckets.ids.set(`${platform.owner.workspaceUuid}/models`, 8);
    const photos = { bucket: 'photos', path: '/data' };
    const mounts = [
      photos,
      { ...photos, path: '/ro', read_only: true },
      { bucket: 'models', path: '/models', read_only: true },
    ];
    const made = await platform.call('POST', '/api/sandboxes?wait_ms=10000', { body: { image: 'busybox', mounts } });
    id = String(made.body['id']);
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it('of E2B clients lead to forks of buckets too, which go with forks that fail', async () => {
    const e2bFork = (body: object) => platform.call('POST', `/e2b/sandboxes/${id.replace('sbx_', '')}/fork`, { body });
    const made = await e2bFork({ count: 2 });
    expect(made).toMatchObject({ status: 201, body: [{ sandbox: {} }, { sandbox: {} }] });
    expect(names()).toEqual(['models', 'photos', 'photos-fork-102', 'photos-fork-103']);
    const mounted = await Promise.all(
      (made.body as unknown as { sandbox: { sandboxID: string } }[]).map(
        async ({ sandbox }) => (await platform.call('GET', `/api/sandboxes/sbx_${sandbox.sandboxID}`)).body,
      ),
    );
    expect(mounted.map((each) => bucketsOf(each as never))).toEqual([
      ['photos-fork-102', 'photos-fork-102', 'models'],
      ['photos-fork-103', 'photos-fork-103', 'models'],
    ]);
    buckets.forksLeft = 1;
    expect((await e2bFork({ count: 2 })).status).toBe(409);
    expect(names()).toEqual(['models', 'photos', 'photos-fork-102', 'photos-fork-103']);
    buckets.forksLeft = 9;
    driver.beforeStart = async () => {
      throw new Error('it does not start');
    };
    expect((await e2bFork({})).body).toMatchObject([{ error: { code: 500 } }]);
    expect(names()).toEqual(['models', 'photos', 'photos-fork-102', 'photos-fork-103']);
  });
});
