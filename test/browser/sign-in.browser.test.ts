import { createClient } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'signing in and out', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('rejects a wrong password with one sentence and returns focus to the password field', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(platform.owner.email);
    await page.getByLabel('Password', { exact: true }).fill('not this one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Wrong email or password').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('password');
    await screenshot(page, 'light-sign-in-refused');
    await expectAccessible(page, 'a refused sign-in');
    await opened.expectNoFault();
  });

  it('asks signed-out users to sign in, and then opens the requested page', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    const path = `/w/${platform.workspaceUuid}/audit?action=token%3Acreate`;
    await signIn(page, platform, path);
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/w/${platform.workspaceUuid}/audit`);
    expect(await page.getByLabel('Action').inputValue()).toBe('token:create');
    await opened.expectNoFault();
  });

  it('never redirects to another site, whatever the link says', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, '/sign-in?next=%2F%2Fevil.example%2F');
    expect(new URL(page.url()).origin).toBe(platform.url);
    await opened.expectNoFault();
  });

  it('hides the session from scripts', async () => {
    await using opened = await openConsole(browser, platform);
    const { page, context } = opened;
    await signIn(page, platform);
    expect(await page.evaluate('document.cookie')).toBe('');
    const cookies = await context.cookies();
    expect(cookies.length).toBeGreaterThan(0);
    expect(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === 'Strict')).toBe(true);
    const stored = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })');
    expect(stored).not.toContain('svc_pat_');
    expect(stored).not.toContain('eyJ');
  });

  it('skips the sign-in page for signed-in users, and shows it again after sign-out', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform);
    await page.goto('/sign-in');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Account of' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await page.goto('/account');
    await page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await opened.expectNoFault();
  });

  it('opens the sign-in page when the session ends, and returns to the previous page', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, '/account/tokens');
    const elsewhere = createClient({ baseUrl: platform.url, credential: { kind: 'none' } });
    const { access_token: token } = await elsewhere.accounts.signIn(platform.owner);
    await createClient({ baseUrl: platform.url, credential: { kind: 'token', token } }).accounts.signOut({
      everywhere: true,
    });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('made too late');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Your session has ended').waitFor();
    await screenshot(page, 'light-sign-in-ended');
    await page.getByLabel('Email').fill(platform.owner.email);
    await page.getByLabel('Password', { exact: true }).fill(platform.owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog', { name: 'New API token' }).waitFor();
    await opened.expectNoFault();
  });

  it('signs out everywhere, including another browser', async () => {
    await using here = await openConsole(browser, platform);
    await using there = await openConsole(browser, platform);
    await signIn(there.page, platform);
    await signIn(here.page, platform, '/account');
    await here.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('alertdialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await there.page.reload();
    await there.page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await here.expectNoFault();
    await there.expectNoFault();
  });

  it('changes the password, stays signed in, and rejects the old one', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [403] });
    const { page } = opened;
    await signIn(page, platform, '/account');
    const fill = async (current: string, next: string, again: string): Promise<void> => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password', { exact: true }).fill(next);
      await page.getByLabel('Confirm new password').fill(again);
      await page.getByRole('button', { name: 'Change password' }).click();
    };
    await fill(platform.owner.password, 'another good password', 'a different password');
    await page.getByText('Passwords do not match.').waitFor();
    await fill('wrong', 'another good password', 'another good password');
    await page.getByRole('alert').getByText('The current password is wrong').waitFor();
    await fill(platform.owner.password, 'another good password', 'another good password');
    await page.getByText('Password changed').waitFor();
    const nobody = createClient({ baseUrl: platform.url, credential: { kind: 'none' } });
    await expect(nobody.accounts.signIn(platform.owner)).rejects.toMatchObject({ status: 401 });
    await fill('another good password', platform.owner.password, platform.owner.password);
    await expect.poll(() => nobody.accounts.signIn(platform.owner).then(() => 'in')).toBe('in');
    await opened.expectNoFault();
  });
});
