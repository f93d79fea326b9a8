import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(SANDBOX_REQUIREMENTS, 'sandboxes in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;

  beforeAll(async () => {
    const config = { sandboxes: { ...SANDBOX_CONFIG.sandboxes, max_per_caller: 6 } };
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config })]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });
  const listPath = (): string => `/w/${platform.workspaceUuid}/sandboxes`;

  it('creates a sandbox from the catalog with the entered settings, and opens it', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, listPath());
    await page.getByText('No sandboxes yet').waitFor();
    await screenshot(page, 'light-sandboxes-empty');
    await expectAccessible(page, 'no sandboxes');
    await page.getByRole('button', { name: 'New sandbox' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New sandbox' });
    await expect.poll(() => page.evaluate('document.activeElement.placeholder')).toMatch(/^Search \d+ images$/);
    await expect.poll(() => dialog.getByRole('radio', { name: /Tools for agents/ }).isChecked()).toBe(true);
    await dialog.getByLabel('Search images').fill('busy');
    await expect.poll(() => dialog.getByRole('radio', { name: /BusyBox/ }).isChecked()).toBe(true);
    await dialog.getByLabel('Name', { exact: true }).fill('builder');
    await dialog.getByText('Resources, network, environment, volumes, buckets, timeouts').click();
    await dialog.getByLabel('Memory (MiB)').fill('128');
    await dialog.getByLabel('Environment').fill('COLOUR=blue\n2BAD=1');
    await dialog.getByText('2BAD is not a valid name.').waitFor();
    await screenshot(page, 'light-sandbox-create');
    await expectAccessible(page, 'the dialog of a new sandbox');
    await dialog.getByLabel('Environment').fill('COLOUR=blue');
    await dialog.getByLabel('Labels').fill('team=web');
    await dialog.getByRole('button', { name: 'Create sandbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'builder' }).waitFor();
    const { items } = await platform.svc.sandboxes.page();
    expect(items).toMatchObject([
      {
        name: 'builder',
        image: 'busybox',
        labels: { team: 'web' },
        environment: { COLOUR: 'blue' },
        resources: { memory_mb: 128 },
      },
    ]);
    await page.locator('[aria-label="Terminal"][data-state="connected"]').waitFor();
    await opened.expectNoFault();
  });

  it('lists sandboxes live, filters them, and stops and deletes several after a confirmation', async () => {
    const { sandboxes } = platform.svc;
    for (const name of ['web-1', 'web-2']) {
      await sandboxes.create({ image: 'busybox', name, labels: { tier: 'front' } });
    }
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, listPath());
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('web-2').getByText('Running').waitFor();
    await page.getByText(/^[23] of 6 sandboxes$/).waitFor();
    await screenshot(page, 'light-sandboxes');
    await expectAccessible(page, 'the list of sandboxes');

    await page.getByLabel('Label', { exact: true }).fill('tier=front');
    await page.getByLabel('Label', { exact: true }).press('Enter');
    await expect.poll(() => row('builder').count()).toBe(0);
    await page.getByLabel('Name, image or ID').fill('web-1');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.reload();
    await row('web-1').waitFor();
    await page.getByLabel('Name, image or ID').fill('');

    // External changes appear without a reload.
    const { items } = await sandboxes.page({ name: 'web-2' });
    await sandboxes.of(items[0]?.id ?? '').stop();
    await row('web-2').getByText('Stopped').waitFor();
    await row('web-2').getByRole('button', { name: 'Start web-2' }).click();
    await row('web-2').getByText('Running').waitFor();

    await page.getByRole('checkbox', { name: 'Select web-1' }).click();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
    await row('web-1').getByText('Stopped').waitFor();
    await row('web-2').getByText('Stopped').waitFor();
    await page.getByRole('checkbox', { name: 'Select web-1' }).click();
    await page.getByRole('checkbox', { name: 'Select web-2' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = page.getByRole('alertdialog', { name: 'Delete 2 sandboxes?' });
    expect((await question.getByRole('listitem').allInnerTexts()).toSorted()).toEqual(['web-1', 'web-2']);
    await question.getByText('This cannot be undone.').waitFor();
    await screenshot(page, 'light-sandboxes-delete');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No matching sandboxes').waitFor();
    const left = await sandboxes.page();
    expect(left.items.map(({ name }) => name)).toEqual(['builder']);
    await opened.expectNoFault();
  });

  it('explains the reached limit, and keeps the input', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [403, 409] });
    const { page } = opened;
    await signIn(page, platform, `${listPath()}?create=true`);
    const dialog = page.getByRole('dialog', { name: 'New sandbox' });
    await dialog.getByLabel('Name', { exact: true }).fill('builder');
    await dialog.getByRole('button', { name: 'Create sandbox' }).click();
    await dialog.getByText('The name builder is taken').waitFor();
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('builder');
    await screenshot(page, 'light-sandbox-refused');
    await opened.expectNoFault();
  });

  it('offers connected clusters, and nothing about clusters where there are none', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, `${listPath()}?create=true`);
    const dialog = page.getByRole('dialog', { name: 'New sandbox' });
    await dialog.getByLabel('Name', { exact: true }).fill('remote');
    expect(await dialog.getByText('Run in').count()).toBe(0);
    const clusters = [
      { id: 'cls-home', name: 'home', connected: true },
      { id: 'cls-away', name: 'away', connected: false },
    ];
    await page.route('**/api/sandbox-clusters*', (route) => route.fulfill({ json: { clusters, count: 2 } }));
    await page.reload();
    await dialog.getByRole('combobox', { name: 'Run in' }).click();
    expect(await page.getByRole('option').allTextContents()).toEqual([
      'Platform',
      expect.stringMatching(/^home.*Without volumes/),
    ]);
    await page.getByRole('option', { name: /home/ }).click();
    await screenshot(page, 'light-sandbox-create-cluster');
    await dialog.getByRole('button', { name: 'Create sandbox' }).click();
    await dialog.getByText('Cluster home not found').waitFor();
    await opened.expectNoFault();
  });

  it('shows details of a sandbox, and deletes it', async () => {
    const [found] = (await platform.svc.sandboxes.page({ name: 'builder' })).items;
    // Its page may request it once more when it learns of the deletion.
    await using opened = await openConsole(browser, platform, { expectedStatuses: [404] });
    const { page } = opened;
    await signIn(page, platform, `${listPath()}/${found?.id}/settings`);
    await page.getByText('COLOUR').waitFor();
    await page.getByText('128 MiB', { exact: true }).waitFor();
    await screenshot(page, 'light-sandbox-settings');
    await expectAccessible(page, 'the settings of a sandbox');
    await page.getByRole('button', { name: 'Delete sandbox…' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No sandboxes yet').waitFor();
    await page.goto(`${listPath()}/${found?.id}/files`);
    await page.getByRole('heading', { level: 1, name: 'Sandbox not found' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await opened.expectNoFault();
  });
});
