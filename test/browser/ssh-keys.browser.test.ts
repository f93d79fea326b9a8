import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

/** Made by `ssh-keygen`; its private halves are gone. */
const KEYS = {
  light: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIADkr8P7DIp3RB7tLraPcTFdXIM5Y33WIc8IwMs8hWPL ann@laptop',
  dark:
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBO1PUp9q6w1lXliwHdUJV4D9VsjfDLkAQzA1f' +
    '/rRoXBaCV1KY0VY/i2gkSDFXOesZZUT+v2K52GGQWAvPjaDK3A= ann@laptop',
} as const;
const FINGERPRINTS = {
  light: 'SHA256:wDC5BMNBaO5MNDuVnvyk4DGBZFwOmWcDVFsiaYvnPbY',
  dark: 'SHA256:Yqvplg60D81xT/xhtni4Y2uEipLTW8VauNcOxq+S9NE',
} as const;

describeRequiring(['chromium'], 'SSH keys', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it.each(['light', 'dark'] as const)(
    'are added, shown with their fingerprint, and removed (%s)',
    async (colorScheme) => {
      await using opened = await openConsole(browser, platform, { colorScheme, expectedStatuses: [400] });
      const { page } = opened;
      await signIn(page, platform, '/account/ssh-keys');
      await page.getByText('No SSH keys yet').waitFor();
      await page.getByRole('button', { name: 'Add SSH key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add SSH key' });
      await dialog.getByLabel('Public key').fill('ssh-dss AAAA ann@old');
      await dialog.getByRole('button', { name: 'Add key' }).click();
      await dialog.getByRole('alert').getByText('has the type ssh-dss').waitFor();
      await screenshot(page, `${colorScheme}-add-ssh-key`);
      await expectAccessible(page, `the dialog for an SSH key, ${colorScheme}`);
      await dialog.getByLabel('Public key').fill(KEYS[colorScheme]);
      await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('ann@laptop');
      await dialog.getByLabel('Name').fill('telescope');
      await dialog.getByRole('button', { name: 'Add key' }).click();
      await page.getByText('telescope added').waitFor();

      const row = page.getByRole('row').filter({ hasText: 'telescope' });
      await row.getByText(FINGERPRINTS[colorScheme]).waitFor();
      await screenshot(page, `${colorScheme}-ssh-keys-list`);
      await expectAccessible(page, `the list of SSH keys, ${colorScheme}`);
      await page.getByRole('button', { name: 'Remove telescope' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Remove key' }).click();
      await page.getByText('telescope removed').waitFor();
      await row.waitFor({ state: 'detached' });
      expect((await platform.svc.accounts.sshKeys()).items).toEqual([]);
      await opened.expectNoFault();
    },
  );
});
