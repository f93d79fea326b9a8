import { createHash } from 'node:crypto';
import { describeRequiring } from '@svc/testing';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { dropFile } from './support/drop-file.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const BUCKET = 'holiday-photos';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** More than one part of an upload. */
const LARGE = Buffer.alloc(20 * 1024 * 1024, 'svc ');

describeRequiring(['chromium'], 'the object store in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  const pathOf = (rest: string) => `/w/${platform.workspaceUuid}/${rest}`;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('creates a bucket, and uploads, shows, shares and deletes objects', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf('buckets'));
    await page.getByText('No buckets yet').waitFor();
    await page.getByRole('button', { name: 'New bucket' }).first().click();
    await page.getByLabel('Name').fill(BUCKET);
    await screenshot(page, 'light-new-bucket');
    await expectAccessible(page, 'the dialog for a new bucket');
    await page.getByRole('button', { name: 'Create bucket' }).click();
    await page.getByRole('heading', { name: BUCKET }).waitFor();

    await page.getByLabel('Files to upload').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a line of text\n') },
      { name: 'pixel.png', mimeType: 'image/png', buffer: PNG },
      { name: 'large.bin', mimeType: 'application/octet-stream', buffer: LARGE },
    ]);
    for (const name of ['notes.txt', 'pixel.png', 'large.bin']) await entry(page, name).waitFor();
    await screenshot(page, 'light-objects');
    await expectAccessible(page, 'the objects of a bucket');

    await entry(page, 'notes.txt').click();
    const dialog = page.getByRole('dialog', { name: 'notes.txt' });
    await dialog.getByText('a line of text').waitFor();
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = await copied(dialog, 'Copy link');
    expect(await (await fetch(link)).text()).toBe('a line of text\n');
    await screenshot(page, 'light-object');
    await expectAccessible(page, 'the dialog of an object');
    await page.keyboard.press('Escape');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download large.bin' }).click(),
    ]);
    expect(await digestOf(await download.createReadStream())).toBe(createHash('sha256').update(LARGE).digest('hex'));

    await page.getByRole('button', { name: 'Delete pixel.png' }).click();
    await page.getByRole('alertdialog').getByText('The bucket keeps no versions. This cannot be undone.').waitFor();
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await entry(page, 'pixel.png').waitFor({ state: 'detached' });
    await opened.expectNoFault();
  });

  it('creates folders, and uploads dropped files into one', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf(`buckets/${BUCKET}`));
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name').fill('2026');
    await page.getByRole('button', { name: 'Create folder' }).click();
    await page.getByRole('link', { name: '2026' }).click();
    await page.getByText('This folder is empty').waitFor();
    await dropFile(page.getByText('This folder is empty'), 'dropped.txt', 'from the desktop');
    await entry(page, 'dropped.txt').waitFor();
    await screenshot(page, 'light-folder');
    await page.reload();
    await entry(page, 'dropped.txt').waitFor();
    await opened.expectNoFault();
  });

  it('creates a working key with its secret shown once, and revokes it', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf('keys'));
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel('Label').fill('backup');
    await page.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy your key now' });
    const secret = await copied(shown, 'Copy secret access key');
    expect(secret.length).toBeGreaterThanOrEqual(32);
    await screenshot(page, 'light-created-key');
    await expectAccessible(page, 'the dialog with a key');
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /backup/ }).waitFor();
    await page.reload();
    await page.getByRole('row', { name: /backup/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await screenshot(page, 'light-keys');
    await expectAccessible(page, 'the keys');
    await page.getByRole('button', { name: 'Revoke backup' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('row', { name: /backup/ }).waitFor({ state: 'detached' });
    await opened.expectNoFault();
  });

  it('says that an unknown bucket does not exist, and offers no actions on it', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf('buckets/no-such-bucket/settings'));
    await page.getByRole('heading', { level: 1, name: 'Bucket not found' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await expectAccessible(page, 'an unknown bucket');
    await page.getByRole('link', { name: 'Show buckets' }).click();
    await page.getByRole('heading', { level: 1, name: 'Buckets' }).waitFor();
    await opened.expectNoFault();
  });

  it.each(['lifecycle', 'domains', 'settings'])('shows the %s of a bucket', async (tab) => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, pathOf(`buckets/${BUCKET}/${tab}`));
    await page.getByRole('heading', { name: BUCKET }).waitFor();
    await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    await screenshot(page, `light-bucket-${tab}`);
    await expectAccessible(page, `the ${tab} of a bucket`);
    await opened.expectNoFault();
  });
});

function entry(page: Page, name: string) {
  return page.getByRole('table').getByRole('button', { name, exact: true });
}

/** Returns the value next to a copy button. */
async function copied(within: Locator, button: string): Promise<string> {
  const value = within.getByRole('button', { name: button }).locator('xpath=preceding-sibling::code');
  return (await value.textContent()) ?? '';
}

async function digestOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
