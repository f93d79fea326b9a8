import { createClient } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'API tokens', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('creates a working token, shows it once, and revokes it', async () => {
    await using opened = await openConsole(browser, platform, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = opened;
    await signIn(page, platform, '/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('telescope');
    await screenshot(page, 'light-new-token');
    await expectAccessible(page, 'the dialog for a new token');
    await page.getByRole('combobox', { name: 'Expiration' }).click();
    await screenshot(page, 'light-new-token-select');
    await page.getByRole('option', { name: '30 days' }).click();
    await page.getByRole('button', { name: 'Create token' }).click();

    const shown = page.getByRole('dialog', { name: 'Copy your token now' });
    await shown.getByRole('button', { name: 'Copy token' }).click();
    await shown.getByRole('button', { name: 'Copied' }).waitFor();
    await screenshot(page, 'light-created-token');
    await expectAccessible(page, 'the dialog with the token');
    const token = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(token).toMatch(/^svc_pat_/);
    await page.mouse.click(4, 4);
    expect(await shown.isVisible(), 'a click beside does not lose the token').toBe(true);
    await page.keyboard.press('Escape');
    expect(await shown.isVisible(), 'Esc does not lose the token').toBe(true);
    await shown.getByRole('button', { name: 'Done' }).click();

    const asToken = createClient({ baseUrl: platform.url, credential: { kind: 'token', token } });
    expect((await asToken.accounts.me()).user?.email).toBe(platform.owner.email);
    await page.reload();
    const row = page.getByRole('row', { name: 'telescope' });
    await row.getByText('in 1 mo').waitFor();
    expect(await page.content()).not.toContain(token);

    await row.getByRole('button', { name: 'Revoke telescope' }).click();
    await screenshot(page, 'light-revoke-token');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('telescope revoked').waitFor();
    await screenshot(page, 'light-toast');
    await row.waitFor({ state: 'detached' });
    await expect(asToken.accounts.me()).rejects.toMatchObject({ status: 401 });
    await opened.expectNoFault();
  });

  it('keeps the input when the platform rejects it, and explains why', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, '/account/tokens?create=true');
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('');
    await opened.expectNoFault();
  });
});
