import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'workspace quotas in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    const config = { quotas: { workspace: { buckets: 4 } } };
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config })]);
    const store = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid });
    for (const name of ['one', 'two', 'three']) await store.buckets.create({ name: `quota-${name}` });
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('shows limits and usage, and lets the operator raise a limit', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/settings`);
    const workspace = page.getByRole('list', { name: 'Quotas', exact: true });
    const owner = page.getByRole('list', { name: 'Quotas across your workspaces' });
    await workspace.getByText('3 of 4').waitFor();
    await owner.getByText('3 of 10,000').waitFor();
    await workspace.getByRole('button', { name: 'Change limit of Buckets' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change limit of Buckets' });
    await dialog.getByRole('textbox', { name: 'Limit' }).fill('many');
    await dialog.getByText('Enter a whole number').waitFor();
    await dialog.getByRole('textbox', { name: 'Limit' }).fill('40');
    await screenshot(page, 'light-workspace-quota-dialog');
    await dialog.getByRole('button', { name: 'Change limit' }).click();
    await workspace.getByText('3 of 40', { exact: true }).waitFor();
    expect(await platform.svc.quotas.list()).toMatchObject([
      { scope: 'workspace', subject: platform.workspaceUuid, quota: 'buckets', limit: 40 },
    ]);
    await opened.expectNoFault();
  });

  for (const look of LOOKS) {
    it(`is readable: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform, `/w/${platform.workspaceUuid}/settings`);
      await page.getByRole('list', { name: 'Quotas', exact: true }).getByText('Buckets').waitFor();
      await expectAccessible(page, `the quotas, ${look.name}`);
      await screenshot(page, `${look.name}-workspace-quotas`);
      await opened.expectNoFault();
    });
  }
});
