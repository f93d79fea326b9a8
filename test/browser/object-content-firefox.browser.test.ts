import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contentCases, programFor, type ContentCase } from './support/content-cases.ts';
import { startCollector, storeCases, type Collector, type ContentStore } from './support/content-store.ts';
import { launchFirefox, type Firefox } from './support/firefox.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';

/** Opens a few hundred pages sequentially. */
const TIMEOUT_MS = 300_000;
const CONFIG = {
  object_store: { public_objects: { domain: '' }, limits: { management_requests_per_second: 100_000 } },
};

describeRequiring(['command:firefox-esr'], 'objects displayed by Firefox', () => {
  let firefox: Firefox;
  let platform: RunningPlatform;
  let collector: Collector;
  let cases: readonly ContentCase[];
  let store: ContentStore;

  beforeAll(async () => {
    [firefox, platform, collector] = await Promise.all([
      launchFirefox(),
      startPlatform({ config: CONFIG }),
      startCollector(),
    ]);
    cases = contentCases({ console: platform.url, collector: collector.url });
    store = await storeCases(platform, cases);
    await firefox.signIn(platform);
  });
  afterAll(async () => {
    await firefox[Symbol.asyncDispose]();
    await platform[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
  });

  const openAll = async (addressOf: (each: ContentCase) => Promise<string> | string): Promise<void> => {
    for (const each of cases) await firefox.open(await addressOf(each));
    expect(firefox.ran).toEqual([]);
    expect(collector.heard).toEqual([]);
  };

  it('detects a script that does run on the console’s origin, as the owner', async () => {
    const program = programFor('control', { console: platform.url, collector: collector.url });
    await firefox.openInstead(`${platform.url}/api/v1/public/control`, `<script>${program}</script>`);
    await expect.poll(() => collector.heard).toEqual([`control at ${platform.url}, me 200`]);
    expect(firefox.ran).toEqual(['RAN control']);
    collector.forget();
    firefox.ran.length = 0;
  });

  it.each<[string, (each: ContentCase) => Promise<string> | string]>([
    ['a public object', (each) => store.publicUrl(each)],
    ['what the management API shows', (each) => store.managementUrl(each)],
    ['a public object on the S3 plane', (each) => store.anonymousUrl(each)],
    [
      'a presigned URL that wants it shown as a page',
      (each) => store.presignedUrl(each, { ResponseContentType: 'text/html', ResponseContentDisposition: 'inline' }),
    ],
  ])('runs no script of %s', { timeout: TIMEOUT_MS }, (_, addressOf) => openAll(addressOf));
});
