import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';
import { seedPlatform, type Seed } from './support/seed.ts';

/** Sum of unexpected layout shifts (Layout Instability API). */
const RECORD_SHIFTS = `
  globalThis.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) globalThis.layoutShift += shift.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

describeRequiring(['chromium'], 'the console shell', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let seed: Seed;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    seed = await seedPlatform(platform);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  const focused = (page: Page): Promise<unknown> =>
    page.evaluate('document.activeElement?.id || document.activeElement?.textContent || ""');
  const background = (page: Page): Promise<unknown> =>
    page.evaluate('getComputedStyle(document.documentElement).backgroundColor');

  it('switches the workspace by a link, keeps it in the URL, and remembers it', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform);
    await page.getByRole('button', { name: 'Workspace home' }).click();
    await page.getByRole('menuitem', { name: 'telescopes' }).waitFor();
    await screenshot(page, 'light-switcher');
    await expectAccessible(page, 'the open switcher');
    await page.getByRole('menuitem', { name: 'telescopes' }).click();
    await page.waitForURL(`**/w/${seed.teamWorkspaceUuid}`);
    await page.getByRole('button', { name: 'Workspace telescopes Observatory' }).waitFor();
    await page.goto('/');
    await page.waitForURL(`**/w/${seed.teamWorkspaceUuid}`);
    await page.goBack();
    await opened.expectNoFault();
  });

  it('shifts the layout of the overview little while it loads', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform);
    await page.addInitScript({ content: RECORD_SHIFTS });
    await page.goto(`/w/${platform.workspaceUuid}`);
    await page.getByRole('region', { name: 'Clusters' }).getByText('None yet').waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await screenshot(page, 'light-overview-shift');
    expect(await page.evaluate('globalThis.layoutShift')).toBeLessThan(0.05);
    await opened.expectNoFault();
  });

  it('opens a team’s workspace for a member, without admin actions', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, { ...platform, owner: seed.member }, `/w/${seed.teamWorkspaceUuid}`);
    await page.getByRole('region', { name: 'Clusters' }).waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
    await page.goto(`/teams/${seed.teamUuid}`);
    await page.getByRole('cell', { name: 'Vera Rubin' }).waitFor();
    expect(await page.getByRole('link', { name: 'Invitations' }).count()).toBe(0);
    await opened.expectNoFault();
  });

  it('shows another user’s workspace as a page that does not exist', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, { ...platform, owner: seed.member }, `/w/${platform.workspaceUuid}`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await opened.expectNoFault();
  });

  it('creates a team workspace from anywhere', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, '/account');
    await page.getByRole('button', { name: 'Workspace' }).click();
    await page.getByRole('menuitem', { name: 'New workspace…' }).click();
    await page.getByLabel('Name').fill('spectrograph');
    await page.getByRole('combobox', { name: 'Team' }).click();
    await page.getByRole('option', { name: 'Observatory' }).click();
    await screenshot(page, 'light-new-workspace');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByRole('button', { name: 'Workspace spectrograph Observatory' }).waitFor();
    await opened.expectNoFault();
  });

  it('follows the system theme until the user chooses one, and keeps the choice', async () => {
    await using opened = await openConsole(browser, platform, { colorScheme: 'dark' });
    const { page } = opened;
    await signIn(page, platform);
    const dark = await background(page);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await background(page);
    expect(light).not.toBe(dark);
    await page.getByRole('button', { name: 'Account of' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    expect(await background(page)).toBe(dark);
    expect(await page.evaluate('scrollY'), 'the menu does not scroll the page').toBe(0);
    await screenshot(page, 'dark-account-menu');
    await expectAccessible(page, 'the open account menu');
    await page.reload();
    await page.locator('#content h1').waitFor();
    expect(await background(page)).toBe(dark);
    await opened.expectNoFault();
  });

  it('works by keyboard: skip link, links, palette, shortcuts', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform);
    await page.reload();
    await page.locator('#content h1').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    await screenshot(page, 'light-skip-link');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('content');

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search pages' }).fill('tok');
    await page.getByRole('option', { name: 'API tokens' }).waitFor();
    await screenshot(page, 'light-palette');
    await expectAccessible(page, 'the command palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'API tokens' }).waitFor();
    await expect.poll(() => focused(page)).toBe('content');

    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await screenshot(page, 'light-shortcuts');
    await page.keyboard.press('Escape');
    // The palette may still be closing: both must disappear.
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await opened.expectNoFault();
  });

  it('reaches every control of a page with Tab alone, each with a visible focus ring', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, '/account/tokens');
    await page.reload();
    await page.getByRole('row', { name: 'laptop' }).waitFor();
    const walked: string[] = [];
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab');
      const at = (await page.evaluate(
        '({ tag: document.activeElement.tagName, name: document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent, ring: getComputedStyle(document.activeElement).outlineStyle })',
      )) as { tag: string; name: string; ring: string }; // the object literal above
      if (at.tag === 'BODY') break; // past the last one, where the browser’s own controls follow
      expect(at.ring, at.name).not.toBe('none');
      walked.push(at.name);
    }
    expect(walked.join('\n')).toMatch(/Overview[\s\S]*Teams[\s\S]*New token[\s\S]*Revoke ci-pipeline/);
    await opened.expectNoFault();
  });

  it('moves the navigation into a drawer on a phone, which closes on a choice', async () => {
    await using opened = await openConsole(browser, platform, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    const { page } = opened;
    await signIn(page, platform);
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor();
    await screenshot(page, 'phone-light-drawer');
    await expectAccessible(page, 'the drawer');
    await page.getByRole('link', { name: 'API tokens' }).click();
    await page.getByRole('heading', { level: 1, name: 'API tokens' }).waitFor();
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('dialog', { name: 'New API token' }).waitFor();
    await screenshot(page, 'phone-light-new-token');
    await opened.expectNoFault();
  });
});
