import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startNameServer, type NameServer } from '../custom-domains/name-server.ts';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const BUCKET = 'downloads';
const HOST = 'files.customer.test';
const ELSEWHERE = 'elsewhere.test';
/** The platform checks again after some seconds, and the page refetches a few seconds later. */
const LIVE = { timeout: 60_000 };

describeRequiring(['linux', 'chromium', 'command:dnsmasq'], 'custom domains in the console', () => {
  let browser: Browser;
  let names: NameServer;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, names] = await Promise.all([launchBrowser(), startNameServer()]);
    await names.serve({ cnames: { [HOST]: ELSEWHERE }, addresses: { [ELSEWHERE]: '192.0.2.1' } });
    const customDomains = { resolvers: [names.address] };
    platform = await startPlatform({
      config: { object_store: { domains: ['s3.test'], custom_domains: customDomains } },
    });
    await platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid }).buckets.create({ name: BUCKET });
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
    await names.stop();
  });

  it('shows the required DNS record and follows its verification live', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/buckets/${BUCKET}/domains`);
    await page.getByText('No domains yet').waitFor();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByLabel('Hostname').fill(HOST);
    await screenshot(page, 'light-add-domain');
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    const dialog = page.getByRole('dialog', { name: HOST });
    await dialog.getByText('Waiting for DNS').waitFor();
    const target = await dialog.locator('code').first().textContent();
    expect(target).toMatch(/\.cname\.s3\.test$/);
    await dialog.getByText(`It points to ${ELSEWHERE} instead of ${target}.`).waitFor(LIVE);
    await screenshot(page, 'light-domain-waits');
    await expectAccessible(page, 'a domain that waits for its record');

    await names.serve({ cnames: { [HOST]: target ?? '' }, addresses: { [target ?? '']: '127.0.0.1' } });
    await dialog.getByText('Active', { exact: true }).waitFor(LIVE);
    await dialog
      .getByText(target ?? '', { exact: true })
      .last()
      .waitFor();
    await screenshot(page, 'light-domain-active');
    await dialog.getByRole('button', { name: 'Check now' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: new RegExp(HOST) })
      .getByText('Active')
      .waitFor();
    await screenshot(page, 'light-domains');
    await expectAccessible(page, 'the domains of a bucket');

    await page.getByRole('button', { name: HOST, exact: true }).click();
    await dialog.getByText('Active', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Remove ${HOST}` }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove domain' }).click();
    await page.getByText('No domains yet').waitFor();
    await opened.expectNoFault();
  });

  it('explains why a name cannot be added', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/buckets/${BUCKET}/domains`);
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByLabel('Hostname').fill('photos.s3.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await screenshot(page, 'light-domain-refused');
    await expectAccessible(page, 'a domain that was refused');
    await opened.expectNoFault();
  });
});
