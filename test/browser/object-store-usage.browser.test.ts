import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';
import { writeUsageHistory } from './support/usage-history.ts';

const BUCKET = 'field-notes';
const MiB = 1024 * 1024;

describeRequiring(['chromium'], 'object store usage in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  const pathOf = (rest: string) => `/w/${platform.workspaceUuid}/${rest}`;

  beforeAll(async () => {
    const config = { object_store: { usage: { interval_seconds: 1 } } };
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config })]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('says that there is no usage data yet', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf('usage'));
    await page.getByText('No usage data yet').waitFor();
    await page.getByText('No buckets yet').waitFor();
    await expectAccessible(page, 'the usage of nothing');
    await screenshot(page, 'light-usage-empty');
    await opened.expectNoFault();
  });

  it('draws storage and traffic against the bucket’s quota', async () => {
    const store = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid });
    await store.buckets.create({ name: BUCKET });
    await store.buckets.create({ name: 'empty' });
    await store.buckets.changeSettings(BUCKET, { quota: { max_bytes: 50 * MiB, max_objects: 100_000 } });
    await store.objects(BUCKET).upload('all.bin', new Blob([Buffer.alloc(36 * MiB)]));
    const days = await writeUsageHistory(platform, BUCKET, Date.now());
    // Includes the platform's own records.
    const newest = async () => (await store.usage({ bucket: BUCKET })).points.at(-1)?.size_bytes;
    await expect.poll(newest, { timeout: 20_000 }).toBe(36 * MiB);

    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf(`buckets/${BUCKET}/usage`));
    await plot(page, /^Stored: 0 B since .*, now 36 MiB, limit 50 MiB/).waitFor();
    await plot(page, /^Objects: 40 since .*, now 1, limit 100,000/).waitFor();
    await plot(page, /^Sent: \S+ GiB since .*, peak 160 MiB on/).waitFor();
    await page.getByRole('meter', { name: 'Storage quota' }).waitFor();
    await expectAccessible(page, 'the usage of a bucket');
    await screenshot(page, 'light-usage-bucket');

    await page.getByRole('button', { name: 'Show table' }).click();
    await page.getByRole('table', { name: 'Usage over time' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(1 + days + 1);
    await expectAccessible(page, 'the usage of a bucket as a table');
    await screenshot(page, 'light-usage-table');
    await opened.expectNoFault();
  });

  it('shows the value under the pointer, and narrows the period', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf(`buckets/${BUCKET}/usage`));
    const stored = plot(page, /^Stored/);
    const box = await stored.boundingBox();
    if (box === null) throw new Error('the plot has no place');
    await page.mouse.move(box.x + 2, box.y + box.height / 2);
    await page.getByRole('figure').filter({ has: stored }).getByText('0 B', { exact: true }).first().waitFor();
    await screenshot(page, 'light-usage-pointed');
    await page.getByRole('combobox', { name: 'Period' }).click();
    await page.getByRole('option', { name: 'Last 48 hours' }).click();
    await plot(page, /^Stored: 36 MiB since \d+ \w+, \d\d:\d\d, now 36 MiB/).waitFor();
    expect(new URL(page.url()).searchParams.get('span')).toBe('48h');
    await page.reload();
    await plot(page, /^Stored: 36 MiB since/).waitFor();
    await screenshot(page, 'light-usage-hours');
    await opened.expectNoFault();
  });

  it.each([
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 390, height: 844 } }],
  ] as const)('shows all buckets together, %s', async (name, options) => {
    await using opened = await openConsole(browser, platform, options);
    const { page } = opened;
    await signIn(page, platform, pathOf('usage'));
    await plot(page, /^Stored: .* now 36 MiB/).waitFor();
    await page.getByRole('link', { name: BUCKET }).waitFor();
    await expectAccessible(page, `the usage of all buckets, ${name}`);
    await screenshot(page, `${name}-usage`);
    const isWider = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expect(isWider).toBe(false);
    await opened.expectNoFault();
  });

  it('says why usage cannot be loaded, and retries', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [403] });
    const { page, context } = opened;
    await context.route('**/object-store/usage?**', (route) =>
      route.fulfill({ status: 403, json: { code: 'FORBIDDEN', message: 'Not now' } }),
    );
    await signIn(page, platform, pathOf(`buckets/${BUCKET}/usage`));
    await page.getByRole('alert').getByText('Could not load this').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await expectAccessible(page, 'usage that could not be loaded');
    await opened.expectNoFault();
  });
});

function plot(page: Page, name: RegExp) {
  return page.getByRole('img', { name });
}
