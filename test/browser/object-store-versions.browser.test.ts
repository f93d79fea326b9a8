import type { ObjectsClient } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const BUCKET = 'drafts';
const KEY = 'letters/hello.txt';

describeRequiring(['chromium'], 'versions of objects in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let objects: ObjectsClient;
  const folder = () => `/w/${platform.workspaceUuid}/buckets/${BUCKET}?prefix=letters%2F`;
  const text = async () => await new Response((await objects.download(KEY)).body).text();
  const count = async () => (await objects.versionPage({ key: KEY })).versions.length;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    const store = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid });
    await store.buckets.create({ name: BUCKET });
    await store.buckets.setVersioning(BUCKET, 'enabled');
    objects = store.objects(BUCKET);
    for (const words of ['first', 'second, longer', 'third']) await objects.upload(KEY, new Blob([words]));
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('lists versions, downloads one, and restores it as the newest', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, folder());
    await page.getByRole('table').getByRole('button', { name: 'hello.txt', exact: true }).click();
    const list = versionsIn(page);
    await expect.poll(() => list.count()).toBe(3);
    await list.first().getByText('latest').waitFor();
    expect(
      await list
        .first()
        .getByRole('button', { name: /^Restore/ })
        .count(),
    ).toBe(0);
    await page.getByRole('dialog').getByText('third').waitFor();
    await screenshot(page, 'light-versions');
    await expectAccessible(page, 'the versions of an object');

    const oldest = list.last();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      oldest.getByRole('link', { name: /^Download version from/ }).click(),
    ]);
    expect(await textOf(await download.createReadStream())).toBe('first');
    await oldest.getByRole('button', { name: /^Restore version from/ }).click();
    await page.getByText('Version restored').waitFor();
    await expect.poll(() => list.count()).toBe(4);
    await page.getByRole('dialog').getByText('first', { exact: true }).waitFor();
    expect(await text()).toBe('first');
    await opened.expectNoFault();
  });

  it('deletes one version permanently, and keeps the others', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `${folder()}&object=${encodeURIComponent(KEY)}`);
    const list = versionsIn(page);
    await expect.poll(() => list.count()).toBe(4);
    await list
      .nth(2)
      .getByRole('button', { name: /^Delete version from/ })
      .click();
    const question = page.getByRole('alertdialog', { name: 'Delete this version?' });
    await question.waitFor();
    await screenshot(page, 'light-delete-version');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await count()).toBe(4);
    await list
      .nth(2)
      .getByRole('button', { name: /^Delete version from/ })
      .click();
    await question.getByRole('button', { name: 'Delete version' }).click();
    await expect.poll(() => list.count()).toBe(3);
    expect(await count()).toBe(3);
    expect(await text()).toBe('first');
    await opened.expectNoFault();
  });

  it('shows deleted objects and restores them', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, folder());
    await page.getByRole('button', { name: 'Delete hello.txt' }).click();
    await page.getByRole('alertdialog').getByText('The bucket keeps versions').waitFor();
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByText('This folder is empty').waitFor();
    await page.getByRole('button', { name: 'Show deleted' }).click();
    const deleted = page.getByRole('table', { name: `Deleted objects in ${BUCKET}/letters/` });
    await deleted.getByRole('row', { name: /hello\.txt/ }).waitFor();
    await screenshot(page, 'light-deleted-objects');
    await expectAccessible(page, 'deleted objects');

    await deleted.getByRole('button', { name: 'hello.txt', exact: true }).click();
    const list = versionsIn(page);
    await expect.poll(() => list.count()).toBe(4);
    await list.first().getByText('deleted').waitFor();
    await screenshot(page, 'light-deleted-object');
    await list
      .first()
      .getByRole('button', { name: /^Restore/ })
      .click();
    await page.getByText('Object restored').waitFor();
    await page.getByRole('dialog').getByText('first', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No deleted objects').waitFor();
    await page.getByRole('table').getByRole('button', { name: 'hello.txt', exact: true }).waitFor();
    expect(await text()).toBe('first');
    await opened.expectNoFault();
  });

  it('fits on a narrow screen in dark mode', async () => {
    const options = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const;
    await using opened = await openConsole(browser, platform, options);
    const { page } = opened;
    await signIn(page, platform, `${folder()}&object=${encodeURIComponent(KEY)}`);
    await expect.poll(() => versionsIn(page).count()).toBe(3);
    await versionsIn(page).last().scrollIntoViewIfNeeded();
    await screenshot(page, 'narrow-versions');
    await expectAccessible(page, 'versions on a narrow screen');
    await opened.expectNoFault();
  });
});

function versionsIn(page: Page) {
  return page.getByRole('list', { name: `Versions of ${KEY}` }).getByRole('listitem');
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
