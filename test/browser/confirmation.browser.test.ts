import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../system/run-program.ts';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const MAIN = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** Makes all sign-ins older than ten minutes. */
function ageSignIns({ dataFolder }: RunningPlatform): void {
  const database = new DatabaseSync(join(dataFolder, 'svc.db'));
  try {
    database.exec("pragma busy_timeout = 5000; update account_session set confirmed_at = '2020-01-01T00:00:00.000Z'");
  } finally {
    database.close();
  }
}

describeRequiring(['chromium'], 'confirming a sign-in', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it.each(['light', 'dark'] as const)('asks for the password and repeats the action (%s)', async (colorScheme) => {
    await using opened = await openConsole(browser, platform, { colorScheme, expectedStatuses: [403] });
    const { page } = opened;
    await signIn(page, platform, '/account/tokens');
    ageSignIns(platform);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill(`telescope-${colorScheme}`);
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await dialog.getByLabel('Password', { exact: true }).fill('not this one');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('The current password is wrong').waitFor();
    await screenshot(page, `${colorScheme}-confirm`);
    await expectAccessible(page, `the question for the password, ${colorScheme}`);
    await dialog.getByLabel('Password', { exact: true }).fill(platform.owner.password);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('dialog', { name: 'Copy your token now' }).getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: `Revoke telescope-${colorScheme}` }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText(`telescope-${colorScheme} revoked`).waitFor();
    await opened.expectNoFault();
  });

  it('changes nothing when the dialog is dismissed', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [403] });
    const { page } = opened;
    await signIn(page, platform, '/account');
    ageSignIns(platform);
    await page.getByLabel('Current password').fill(platform.owner.password);
    await page.getByLabel('New password', { exact: true }).fill('another long password');
    await page.getByLabel('Confirm new password').fill('another long password');
    await page.getByRole('button', { name: 'Change password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('Nothing was changed').waitFor();
    await opened.expectNoFault();
    const nobody = createClient({ baseUrl: platform.url, credential: { kind: 'none' } });
    expect((await nobody.accounts.signIn(platform.owner)).token_type).toBe('Bearer');
  });

  it.each(['light', 'dark'] as const)('sets a password with a link from the operator (%s)', async (colorScheme) => {
    const { email } = platform.owner;
    const flags = ['--data', platform.dataFolder, '--email', email];
    const made = await runProgram(process.execPath, [MAIN, 'admin', 'password-link', ...flags]);
    const [link = ''] = made.split('\n');
    await using opened = await openConsole(browser, platform, { colorScheme });
    const { page } = opened;
    const { pathname, hash } = new URL(link);
    await page.goto(`${pathname}${hash}`);
    await page.getByLabel('New password').fill(platform.owner.password);
    await screenshot(page, `${colorScheme}-set-password`);
    await expectAccessible(page, `the page of a password link, ${colorScheme}`);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Password set').waitFor();
    await signIn(page, platform);
    await opened.expectNoFault();
  });
});
