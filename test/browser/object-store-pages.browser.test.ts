import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';
import { seedPlatform, type Seed } from './support/seed.ts';
import { writeUsageHistory } from './support/usage-history.ts';

const BUCKET = 'research-archive-of-the-observatory';
const GUEST = { email: 'henrietta@example.com', password: 'period and luminosity' };

/** Fills a workspace with everything its pages can show. */
async function fillStore(platform: RunningPlatform, { teamUuid, teamWorkspaceUuid }: Seed): Promise<void> {
  const store = platform.svc.objectStore({ workspaceUuid: teamWorkspaceUuid, teamUuid });
  for (const name of [BUCKET, 'plates', 'gone']) await store.buckets.create({ name });
  await store.buckets.setVersioning(BUCKET, 'enabled');
  await store.buckets.changeSettings(BUCKET, {
    publicDefault: true,
    quota: { max_bytes: 100 * 1024 ** 2, max_objects: 1_000 },
    cors_rules: [{ allowed_origins: ['https://app.example.com'], allowed_methods: ['GET', 'HEAD'] }],
    website: { index: 'index.html', error: '404.html' },
  });
  await store.buckets.setLifecycle(BUCKET, {
    rules: [
      { id: 'logs', filter: { prefix: 'logs/' }, expiration: { days: 30 } },
      { id: 'old versions', enabled: false, noncurrent_version_expiration: { days: 90, newer_versions: 3 } },
    ],
  });
  const objects = store.objects(BUCKET);
  const names = [
    'readme.txt',
    'a name of an object that is much longer than the room that there is for it.tar.gz',
    'logs/1',
  ];
  for (const name of names) for (const words of ['one', 'two']) await objects.upload(name, new Blob([`${words}\n`]));
  await objects.delete('logs/1');
  await store.domains.add(BUCKET, 'files.observatory.example');
  await store.keys.create({ label: 'telescope', permissions: ['read'], buckets: [BUCKET] });
  await store.buckets.delete('gone');
  await writeUsageHistory(platform, BUCKET, Date.now(), teamWorkspaceUuid);
}

/** Cells at the end of rows, which hold buttons, that are narrower than their content. Names may be truncated. */
const CUT_CELLS = `[...document.querySelectorAll('td:last-child')]
  .filter((cell) => cell.scrollWidth > cell.clientWidth)
  .map((cell) => cell.closest('tr').textContent)`;

describeRequiring(['chromium'], 'every page of the object store', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let seed: Seed;
  const pathOf = (rest: string) => `/w/${seed.teamWorkspaceUuid}/${rest}`;
  const pages = () =>
    [
      ['buckets', pathOf('buckets'), 'Buckets'],
      ['deleted-buckets', pathOf('deleted-buckets'), 'Deleted buckets'],
      ['usage', pathOf('usage'), 'Usage'],
      ['access-keys', pathOf('keys'), 'Access keys'],
      ['bucket', pathOf(`buckets/${BUCKET}`), BUCKET],
      ['bucket-deleted', pathOf(`buckets/${BUCKET}?prefix=logs%2F&deleted=true`), BUCKET],
      ['bucket-lifecycle', pathOf(`buckets/${BUCKET}/lifecycle`), BUCKET],
      ['bucket-domains', pathOf(`buckets/${BUCKET}/domains`), BUCKET],
      ['bucket-usage', pathOf(`buckets/${BUCKET}/usage`), BUCKET],
      ['bucket-settings', pathOf(`buckets/${BUCKET}/settings`), BUCKET],
    ] as const;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    seed = await seedPlatform(platform);
    await fillStore(platform, seed);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  for (const look of LOOKS) {
    it(`is accessible, within its policy and within the window: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform);
      for (const [name, path, heading] of pages()) {
        await visit(page, `${look.name}-${name}`, path, heading);
        expect(await page.evaluate(CUT_CELLS), `cells of ${name} that are cut`).toEqual([]);
      }
      await page.goto(pathOf(`buckets/${BUCKET}?object=readme.txt`));
      await page
        .getByRole('dialog')
        .getByRole('list', { name: /^Versions/ })
        .waitFor();
      await screenshot(page, `${look.name}-bucket-object`);
      await expectAccessible(page, `${look.name} an object`);
      await opened.expectNoFault();
    });
  }

  it('offers a guest nothing that the API would refuse', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, { ...platform, owner: GUEST });
    const offered: string[] = [];
    for (const [name, path, heading] of pages()) {
      await visit(page, `guest-${name}`, path, heading);
      offered.push(...(await page.getByRole('main').getByRole('button').allTextContents()));
    }
    const changes = /^(new|add|delete|remove|edit|restore|bring back|upload|save)\b/i;
    expect(offered.filter((label) => changes.test(label.trim()))).toEqual([]);
    await opened.expectNoFault();
  });
});
