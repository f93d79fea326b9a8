import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'nodes in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('shows the one node, drains it and ends the drain', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Nodes' }).click();
    const [node] = (await platform.svc.nodes.list()).nodes;
    const host = node?.replica?.host ?? '';
    const row = page.getByRole('row').filter({ hasText: host });
    await row.getByText('this one').waitFor();
    await row.getByText('Up', { exact: true }).waitFor();
    await row.getByText('0 of 0 running').waitFor();

    await row.getByRole('button', { name: `Drain ${host}` }).click();
    const dialog = page.getByRole('alertdialog', { name: `Drain ${host}?` });
    await dialog.getByText('Files are kept').waitFor();
    await screenshot(page, 'light-drain-node');
    await expectAccessible(page, 'the dialog of a drain');
    await dialog.getByRole('button', { name: 'Drain node' }).click();
    await row.getByText('Drained', { exact: true }).waitFor();
    expect((await platform.svc.nodes.list()).nodes).toMatchObject([{ drain: { state: 'drained', remaining: 0 } }]);

    await page.reload();
    await row.getByText('Drained', { exact: true }).waitFor();
    await row.getByRole('button', { name: `End drain of ${host}` }).click();
    await row.getByText('Up', { exact: true }).waitFor();
    expect((await platform.svc.nodes.list()).nodes).toMatchObject([{ drain: null }]);
    await opened.expectNoFault();
  });

  for (const look of LOOKS) {
    it(`is readable: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform);
      await visit(page, `${look.name}-nodes`, '/nodes', 'Nodes');
      await opened.expectNoFault();
    });
  }
});
