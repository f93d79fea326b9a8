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

describeRequiring(['chromium'], 'what is set on a bucket, in the console', () => {
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

  it('makes the objects public only after a question, and keeps Cache-Control', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    const isPublic = page.getByRole('switch', { name: 'Everybody may read the objects' });
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
    await page.getByLabel('Cache-Control of public answers').fill('public, max-age=60');
    await save(page, 'Public access');
    await expect.poll(async () => (await settings()).cacheControl).toBe('public, max-age=60');
    await isPublic.click();
    await expect.poll(async () => (await settings()).publicDefault).toBe(false);
    await opened.expectNoFault();
  });

  it('keeps versions, and says for how long a deleted bucket can be restored', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByRole('switch', { name: 'Keep older versions of objects' }).click();
    await page.getByText('Versions are kept from now on').waitFor();
    expect(await buckets.versioning(BUCKET)).toBe('enabled');
    const days = page.getByLabel('Days until it is gone for good');
    await days.fill('91');
    await page.getByText('From 1 to 90 days.').waitFor();
    expect(await saveButton(page, 'Undo').isDisabled()).toBe(true);
    await days.fill('30');
    await save(page, 'Undo');
    await expect.poll(async () => (await settings()).soft_delete).toEqual({ enabled: true, retention_days: 30 });
    await opened.expectNoFault();
  });

  it('limits what may be in it, and says at the field what cannot be', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByLabel('Bytes in all').fill('plenty');
    await page.getByText('Such as 10 GiB.').waitFor();
    expect(await saveButton(page, 'Limits').isDisabled()).toBe(true);
    await screenshot(page, 'light-limit-fault');
    await page.getByLabel('Bytes in all').fill('1.5 GiB');
    await page.getByLabel('Objects in all').fill('1000');
    await page.getByLabel('Largest object').fill('1500001');
    await page.getByLabel('Content types that are taken').fill('image/*\ntext/plain');
    await save(page, 'Limits');
    const expected = {
      quota: { max_bytes: 1.5 * 1024 ** 3, max_objects: 1_000 },
      max_object_size: 1_500_001,
      allowed_content_types: ['image/*', 'text/plain'],
    };
    await expect.poll(settings).toMatchObject(expected);
    await page.reload();
    await expect.poll(() => page.getByLabel('Bytes in all').inputValue()).toBe('1.5 GiB');
    expect(await page.getByLabel('Largest object').inputValue()).toBe('1500001');
    await page.getByRole('meter', { name: 'Bytes of the limit' }).waitFor();
    await expectAccessible(page, 'the settings of a bucket');
    await opened.expectNoFault();
  });

  it('lets browsers of other origins in, rule by rule', async () => {
    const named: CorsRule = { id: 'by-the-api', allowed_origins: ['https://one.example'], allowed_methods: ['GET'] };
    await buckets.changeSettings(BUCKET, { cors_rules: [named] });
    await using opened = await open('settings');
    const { page } = opened;
    await section(page, 'Browsers of other origins').getByRole('button', { name: 'Add rule' }).click();
    const rule = page.getByRole('group', { name: 'Rule 2' });
    await rule.getByLabel('Origins').fill('https://two.example\nhttps://three.example');
    await rule.getByRole('checkbox', { name: 'PUT' }).click();
    await rule.getByLabel('Seconds that browsers remember').fill('an hour');
    await page.getByText('A whole number of seconds, or nothing.').waitFor();
    await rule.getByLabel('Seconds that browsers remember').fill('600');
    await screenshot(page, 'light-cors-rule');
    await save(page, 'Browsers of other origins');
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
    await save(page, 'Browsers of other origins');
    await expect.poll(async () => (await settings()).cors_rules).toHaveLength(1);
    await opened.expectNoFault();
  });

  it('serves it as a website, and tells a program of what happens in it', async () => {
    await using opened = await open('settings');
    const { page } = opened;
    await page.getByRole('switch', { name: 'Serve this bucket as a website' }).click();
    await page.getByLabel('Page for what is not there').fill('missing.html');
    await save(page, 'Website');
    await expect.poll(async () => (await settings()).website).toEqual({ index: 'index.html', error: 'missing.html' });
    await page.getByRole('switch', { name: 'Tell of what happens here' }).click();
    await page.getByLabel('Address').fill('https://hooks.example.com/svc');
    await page.getByRole('checkbox', { name: 'Expired' }).click();
    await section(page, 'Notifications').getByLabel('Keys that begin with').fill('public/');
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
    await page.getByText('Nothing goes by itself').waitFor();
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New rule' });
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.getByText('A rule has a name.').waitFor();
    await dialog.getByLabel('Name').fill('logs');
    await dialog.getByLabel('Keys that begin with').fill('logs/');
    await dialog.getByLabel('Tags').fill('keep=no');
    await dialog.getByLabel('Larger than').fill('1500000');
    await dialog.getByLabel('Objects expire after (days)').fill('30');
    await dialog.getByLabel('Old versions go after (days)').fill('7');
    await dialog.getByLabel('But keep the newest (versions)').fill('3');
    await screenshot(page, 'light-lifecycle-rule');
    await expectAccessible(page, 'the form of a lifecycle rule');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row', { name: /logs/ });
    await row.getByText('Objects expire after 30 days').waitFor();
    await row.getByText('Old versions go after 7 days, the newest 3 are kept').waitFor();
    await screenshot(page, 'light-lifecycle');
    await expectAccessible(page, 'the lifecycle rules of a bucket');

    await page.getByRole('button', { name: 'Edit logs' }).click();
    const edit = page.getByRole('dialog', { name: 'Rule logs' });
    await edit.getByLabel('Objects expire after (days)').fill('60');
    await edit.getByRole('switch', { name: 'The rule is in force' }).click();
    await edit.getByRole('button', { name: 'Save rule' }).click();
    await row.getByText('Objects expire after 60 days').waitFor();
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

    await page.getByRole('button', { name: 'Remove logs' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove rule' }).click();
    await page.getByText('Nothing goes by itself').waitFor();
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

/** And waits until the page says that it is done. */
async function save(page: Page, title: string): Promise<void> {
  await saveButton(page, title).click();
  await page.getByText('Settings saved').last().waitFor();
}
