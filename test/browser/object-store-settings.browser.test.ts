import type { BucketsClient, CorsRule } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn, type ConsolePage } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const BUCKET = 'press-kit';

describeRequiring(['chromium'], 'bucket settings in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let buckets: BucketsClient;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    ({ buckets } = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid }));
    await buckets.create({ name: BUCKET });
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  const open = async (tab: 'settings' | 'lifecycle'): Promise<ConsolePage> => {
    const opened = await openConsole(browser, platform);
    await signIn(opened.page, platform, `/w/${platform.workspaceUuid}/buckets/${BUCKET}/${tab}`);
    await opened.page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    return opened;
  };
  const settings = () => buckets.settings(BUCKET);

  it('makes objects public only after a confirmation, and keeps Cache-Control', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    const isPublic = page.getByRole('switch', { name: 'Public read access' });
    await isPublic.click();
    const question = page.getByRole('alertdialog', { name: 'Make all objects public?' });
    await question.waitFor();
    await screenshot(page, 'light-make-public');
    await expectAccessible(page, 'the question before a bucket is public');
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect((await settings()).publicDefault).toBe(false);
    await isPublic.click();
    await question.getByRole('button', { name: 'Make public' }).click();
    await expect.poll(() => isPublic.getAttribute('aria-checked')).toBe('true');
    expect((await settings()).publicDefault).toBe(true);
    await page.getByLabel('Cache-Control for public responses').fill('public, max-age=60');
    await save(page, 'Public access');
    await expect.poll(async () => (await settings()).cacheControl).toBe('public, max-age=60');
    await isPublic.click();
    await expect.poll(async () => (await settings()).publicDefault).toBe(false);
    await opened.expectNoFault();
  });

  it('saves nothing when nothing has changed', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    for (const title of ['Public access', 'Versioning & recovery', 'Limits', 'CORS', 'Website', 'Notifications']) {
      expect(await saveButton(page, title).isDisabled(), title).toBe(true);
    }
    await page.getByLabel('Total size').fill('1 GiB');
    expect(await saveButton(page, 'Limits').isDisabled()).toBe(false);
    await page.getByLabel('Total size').fill('');
    expect(await saveButton(page, 'Limits').isDisabled()).toBe(true);
    await opened.expectNoFault();
  });

  it('enables versioning, and says for how long a deleted bucket can be restored', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByRole('switch', { name: 'Keep previous versions of objects' }).click();
    await page.getByText('Versioning enabled').waitFor();
    expect(await buckets.versioning(BUCKET)).toBe('enabled');
    const days = page.getByLabel('Retention (days)');
    await days.fill('91');
    await page.getByText('Enter 1 to 90 days.').waitFor();
    expect(await saveButton(page, 'Versioning & recovery').isDisabled()).toBe(true);
    await days.fill('30');
    await save(page, 'Versioning & recovery');
    await expect.poll(async () => (await settings()).soft_delete).toEqual({ enabled: true, retention_days: 30 });
    await opened.expectNoFault();
  });

  it('sets limits of the bucket, and reports invalid values at their fields', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByLabel('Total size').fill('plenty');
    await page.getByText('Enter a size, for example 10 GiB.').waitFor();
    expect(await saveButton(page, 'Limits').isDisabled()).toBe(true);
    await screenshot(page, 'light-limit-fault');
    await page.getByLabel('Total size').fill('1.5 GiB');
    await page.getByLabel('Total objects').fill('1000');
    await page.getByLabel('Maximum object size').fill('1500001');
    await page.getByLabel('Allowed content types').fill('image/*\ntext/plain');
    await save(page, 'Limits');
    const expected = {
      quota: { max_bytes: 1.5 * 1024 ** 3, max_objects: 1_000 },
      max_object_size: 1_500_001,
      allowed_content_types: ['image/*', 'text/plain'],
    };
    await expect.poll(settings).toMatchObject(expected);
    await page.reload();
    await expect.poll(() => page.getByLabel('Total size').inputValue()).toBe('1.5 GiB');
    expect(await page.getByLabel('Maximum object size').inputValue()).toBe('1500001');
    await page.getByRole('meter', { name: 'Size limit' }).waitFor();
    await expectAccessible(page, 'the settings of a bucket');
    await opened.expectNoFault();
  });

  it('edits CORS rules one by one', async () => {
    const named: CorsRule = { id: 'by-the-api', allowed_origins: ['https://one.example'], allowed_methods: ['GET'] };
    await buckets.changeSettings(BUCKET, { cors_rules: [named] });
    await using opened = await open('settings');
    const { page } = opened;
    await section(page, 'CORS').getByRole('button', { name: 'Add rule' }).click();
    const rule = page.getByRole('group', { name: 'Rule 2' });
    await rule.getByLabel('Origins').fill('https://two.example\nhttps://three.example');
    await rule.getByRole('checkbox', { name: 'PUT' }).click();
    await rule.getByLabel('Max age (seconds)').fill('an hour');
    await page.getByText('Enter whole seconds or leave empty.').waitFor();
    await rule.getByLabel('Max age (seconds)').fill('600');
    await screenshot(page, 'light-cors-rule');
    await save(page, 'CORS');
    await expect
      .poll(async () => (await settings()).cors_rules)
      .toMatchObject([
        named,
        {
          allowed_origins: ['https://two.example', 'https://three.example'],
          allowed_methods: ['GET', 'HEAD', 'PUT'],
          allowed_headers: ['*'],
          max_age_seconds: 600,
        },
      ]);
    await page.getByRole('button', { name: 'Remove rule 1' }).click();
    await save(page, 'CORS');
    await expect.poll(async () => (await settings()).cors_rules).toHaveLength(1);
    await opened.expectNoFault();
  });

  it('serves the bucket as a website, and sends event notifications', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByRole('switch', { name: 'Serve this bucket as a website' }).click();
    await page.getByLabel('Error document').fill('missing.html');
    await save(page, 'Website');
    await expect.poll(async () => (await settings()).website).toEqual({ index: 'index.html', error: 'missing.html' });
    await page.getByRole('switch', { name: 'Send event notifications' }).click();
    await page.getByLabel('Webhook URL').fill('https://hooks.example.com/svc');
    await page.getByRole('checkbox', { name: 'Expired' }).click();
    await section(page, 'Notifications').getByLabel('Key prefix').fill('public/');
    await save(page, 'Notifications');
    await expect
      .poll(async () => (await settings()).notifications)
      .toMatchObject({
        enabled: true,
        webhook: 'https://hooks.example.com/svc',
        events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:LifecycleExpiration:*'],
        prefix: 'public/',
      });
    await screenshot(page, 'light-notifications');
    await opened.expectNoFault();
  });

  it('adds, changes and removes lifecycle rules', async () => {
    await using opened = await open('lifecycle');
    const { page } = opened;
    await page.getByText('No lifecycle rules yet').waitFor();
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByLabel('Name').fill('logs');
    await dialog.getByLabel('Key prefix').fill('logs/');
    await dialog.getByLabel('Tags').fill('keep=no');
    await dialog.getByLabel('Larger than').fill('1500000');
    await dialog.getByLabel('Delete objects after (days)').fill('30');
    await dialog.getByLabel('Delete old versions after (days)').fill('7');
    await dialog.getByLabel('Newest versions to keep').fill('3');
    await screenshot(page, 'light-lifecycle-rule');
    await expectAccessible(page, 'the form of a lifecycle rule');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row', { name: /logs/ });
    await row.getByText('Delete objects after 30 days').waitFor();
    await row.getByText('Delete old versions after 7 days, keep the newest 3').waitFor();
    await screenshot(page, 'light-lifecycle');
    await expectAccessible(page, 'the lifecycle rules of a bucket');

    await page.getByRole('button', { name: 'Edit logs' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit rule logs' });
    await edit.getByLabel('Delete objects after (days)').fill('60');
    await edit.getByRole('switch', { name: 'Enabled' }).click();
    await edit.getByRole('button', { name: 'Save rule' }).click();
    await row.getByText('Delete objects after 60 days').waitFor();
    await row.getByText('Off').waitFor();
    expect((await buckets.lifecycle(BUCKET)).rules).toMatchObject([
      {
        id: 'logs',
        enabled: false,
        filter: { prefix: 'logs/', tags: { keep: 'no' }, size_greater_than: 1_500_000 },
        expiration: { days: 60 },
        noncurrent_version_expiration: { days: 7, newer_versions: 3 },
      },
    ]);

    await page.getByRole('button', { name: 'Delete logs' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rule' }).click();
    await page.getByText('No lifecycle rules yet').waitFor();
    expect((await buckets.lifecycle(BUCKET)).rules).toEqual([]);
    await opened.expectNoFault();
  });
});

function section(page: Page, title: string) {
  return page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
}

function saveButton(page: Page, title: string) {
  return section(page, title).getByRole('button', { name: 'Save' });
}

/** Saves and waits for the confirmation. */
async function save(page: Page, title: string): Promise<void> {
  await saveButton(page, title).click();
  await page.getByText('Settings saved').last().waitFor();
}
