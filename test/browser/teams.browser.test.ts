import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'teams', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('invites by a link that creates an account and opens the team', async () => {
    await using owner = await openConsole(browser, platform);
    await signIn(owner.page, platform, '/teams');
    await screenshot(owner.page, 'light-teams-empty');
    await owner.page.getByRole('button', { name: 'New team' }).click();
    await owner.page.getByLabel('Name').fill('Harvard Computers');
    await owner.page.getByRole('button', { name: 'Create team' }).click();
    await owner.page.getByRole('link', { name: 'Invitations' }).click();
    await owner.page.getByRole('heading', { name: 'No open invitations' }).waitFor();
    await owner.page.getByRole('button', { name: 'Invite' }).click();
    await owner.page.getByLabel('Email').fill('annie@example.com');
    await owner.page.getByRole('button', { name: 'Create link' }).click();
    const dialog = owner.page.getByRole('dialog', { name: 'Share this link' });
    const link = (await dialog.locator('code').textContent()) ?? '';
    await screenshot(owner.page, 'light-invitation-link');
    await expectAccessible(owner.page, 'the link of an invitation');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await owner.page.getByRole('cell', { name: 'annie@example.com', exact: true }).waitFor();

    await using guest = await openConsole(browser, platform);
    await guest.page.goto(link);
    await guest.page.getByLabel('Name').fill('Annie Jump Cannon');
    await guest.page.getByLabel('Email').fill('annie@example.com');
    await guest.page.getByLabel('Password', { exact: true }).fill('oh be a fine girl');
    await guest.page.getByRole('button', { name: 'Create account and join' }).click();
    await guest.page.getByRole('heading', { level: 1, name: 'Harvard Computers' }).waitFor();
    await guest.page.getByRole('cell', { name: 'annie@example.com' }).waitFor();
    await guest.expectNoFault();

    await owner.page.getByRole('link', { name: 'Members' }).click();
    await owner.page.getByRole('combobox', { name: 'Role of Annie Jump Cannon' }).click();
    await owner.page.getByRole('option', { name: 'Admin' }).click();
    await owner.page.getByText('Annie Jump Cannon is now admin').waitFor();
    await owner.page.getByRole('button', { name: 'Invite' }).click();
    await owner.page.getByRole('dialog', { name: 'Invite to Harvard Computers' }).waitFor();
    await owner.page.keyboard.press('Escape');
    await owner.page.getByRole('button', { name: 'Remove Annie Jump Cannon' }).click();
    await owner.page.getByRole('alertdialog').getByRole('button', { name: 'Remove member' }).click();
    await owner.page.getByRole('cell', { name: 'annie@example.com' }).waitFor({ state: 'detached' });
    await owner.expectNoFault();
  });

  it('deletes a team only after its name is typed', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    const team = await platform.svc.teams.create('Short lived');
    await signIn(page, platform, `/teams/${team.uuid}/settings`);
    await page.getByRole('button', { name: 'Delete team…' }).click();
    const dialog = page.getByRole('alertdialog');
    const action = dialog.getByRole('button', { name: 'Delete team' });
    expect(await action.isDisabled()).toBe(true);
    await dialog.getByLabel('Type “Short lived” to confirm').fill('Short lived');
    await screenshot(page, 'light-delete-team');
    await action.click();
    await page.getByText('Short lived deleted').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Short lived' }).count()).toBe(0);
    await opened.expectNoFault();
  });
});
