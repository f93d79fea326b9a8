import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const CHANGES = 60;

describeRequiring(['chromium'], 'the audit log', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    const { svc, workspaceUuid } = platform;
    for (let count = 1; count <= CHANGES; count += 1) await svc.workspaces.rename({ workspaceUuid }, `name ${count}`);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('lists the newest entries first and loads older ones on demand', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/audit`);
    const rows = page.getByRole('button', { name: 'workspace:update' });
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Load older entries' }).click();
    await expect.poll(() => rows.count()).toBe(CHANGES);
    expect(await page.getByRole('button', { name: 'Load older entries' }).count()).toBe(0);
    await opened.expectNoFault();
  });

  it('opens an entry with all of its details', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/audit`);
    await page.getByRole('button', { name: 'workspace:update' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'workspace:update' });
    await dialog.getByText(`workspace/${platform.workspaceUuid}`).waitFor();
    await dialog.getByText('HTTP status').waitFor();
    await screenshot(page, 'light-audit-entry');
    await expectAccessible(page, 'an entry of the audit log');
    await opened.expectNoFault();
  });

  it('filters by action, person and period, and keeps the filter in the URL', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/audit?of=account`);
    await page.getByLabel('Action').fill('session:create');
    await page.keyboard.press('Enter');
    await page.waitForURL(/action=session%3Acreate/);
    await page.getByRole('button', { name: 'session:create' }).first().waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'workspace:update' }).count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Actor' }).fill('nobody@example.com');
    await page.keyboard.press('Tab');
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
    await screenshot(page, 'light-audit-empty');
    await page.reload();
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
    await page.getByRole('combobox', { name: 'Period' }).click();
    await page.getByRole('option', { name: 'Last hour' }).click();
    await page.waitForURL(/period=1h/);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'workspace:update' }).first().waitFor();
    expect(new URL(page.url()).search).toBe('?of=account');
    await opened.expectNoFault();
  });
});
