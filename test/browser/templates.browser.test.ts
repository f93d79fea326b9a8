import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { focusTerminal, SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';

describeRequiring(SANDBOX_REQUIREMENTS, 'templates in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let list: string;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    list = `/w/${platform.workspaceUuid}/sandboxes/templates`;
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('show the log of a build while it is under way, create sandboxes, and are deleted', async () => {
    const { templates } = platform.svc.sandboxes;
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, list);
    await page.getByText('No templates yet').waitFor();
    const wait = 'echo begun; while [ ! -e /go ]; do sleep 0.1; done; echo finished';
    const build = await templates.build('tools', { from: 'busybox', steps: [{ run: wait }] });
    await page.getByRole('link', { name: 'tools' }).click();
    await page.getByRole('heading', { level: 1, name: 'tools' }).waitFor();
    const log = page.getByRole('log');
    await log.getByText('begun').waitFor();
    const label = { 'svc-template-build': build.id };
    for await (const { id } of platform.svc.sandboxes.list({ labels: label })) {
      await platform.svc.sandboxes.of(id).files.write('/go', '');
    }
    await log.getByText('finished').waitFor();
    await page.getByRole('row').getByText('Ready').waitFor();
    await page.getByRole('button', { name: 'New sandbox' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('from-tools');
    await page.getByRole('button', { name: 'Create sandbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'from-tools' }).waitFor();
    await focusTerminal(page); // leaving a terminal while it opens makes the browser warn
    await page.goto(list);
    await page.getByRole('button', { name: 'Delete tools' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete template' }).click();
    await page.getByText('No templates yet').waitFor();
    await opened.expectNoFault();
  });

  for (const look of LOOKS.filter(({ name }) => name === 'dark' || name === 'phone-light')) {
    it(`have readable pages that fit the window: ${look.name}`, async () => {
      const { templates } = platform.svc.sandboxes;
      const { id } = await templates.build('shown', { from: 'busybox', steps: [{ run: 'echo one' }] });
      await templates.waitForBuild('shown', id);
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform, list);
      await visit(page, `${look.name}-templates`, list, 'Templates');
      await visit(page, `${look.name}-template`, `${list}/shown`, 'shown');
      await opened.expectNoFault();
    });
  }
});
