import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'the console on errors', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('answers an unknown page with a real 404 and a way out', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [404] });
    const { page } = opened;
    await signIn(page, platform);
    const response = await page.goto('/no/such/page');
    expect(response?.status()).toBe(404);
    await page.getByRole('link', { name: 'Go to overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await opened.expectNoFault();
  });

  it('says that the platform is unreachable, and recovers when it is back', async () => {
    await using opened = await openConsole(browser, platform);
    const { page, context } = opened;
    await signIn(page, platform, '/account');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await context.route('**/api/**', (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'API tokens' }).click();
    await page.getByRole('alert').getByText('Cannot reach the platform').waitFor();
    await screenshot(page, 'light-unreachable');
    await expectAccessible(page, 'an unreachable platform');
    await context.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('row', { name: 'Start of svc up' }).waitFor();
  });

  it('shows an error page when the session itself cannot be loaded', async () => {
    await using opened = await openConsole(browser, platform);
    const { page, context } = opened;
    await signIn(page, platform);
    await context.route('**/api/auth/me', (route) =>
      route.fulfill({ status: 500, json: { code: 'internal_error', message: 'Internal error', request_id: 'req-7' } }),
    );
    await page.goto('/account');
    await page.getByRole('heading', { name: 'Unexpected response from the platform' }).waitFor();
    await page.getByText('req-7').waitFor();
    await screenshot(page, 'light-error');
    await expectAccessible(page, 'the error page');
    await context.unroute('**/api/auth/me');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  });
});
