import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

const THEMES = ['light', 'dark'] as const;

describeRequiring(SANDBOX_REQUIREMENTS, 'secrets of sandboxes', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;

  beforeAll(async () => {
    platform = await startPlatform({ config: SANDBOX_CONFIG });
    sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: 'agent', network: 'egress' });
    await sandbox.waitFor('running');
    await sandbox.stop(); // its network interface would make the browser load pages again
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it.each(THEMES)('are created, replaced and deleted, and never shown (%s)', async (colorScheme) => {
    await using opened = await openConsole(browser, platform, { colorScheme, expectedStatuses: [409] });
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/secrets`);
    await page.getByText('No secrets yet').waitFor();
    const create = async (value: string): Promise<void> => {
      await page.getByRole('button', { name: 'New secret' }).click();
      const dialog = page.getByRole('dialog', { name: 'New secret' });
      await dialog.getByLabel('Name').fill('OPENAI_API_KEY');
      await dialog.getByLabel('Value', { exact: true }).fill(value);
      await dialog.getByRole('button', { name: 'Create secret' }).click();
    };
    await create('first value');
    await page.getByText('OPENAI_API_KEY created').waitFor();
    await create('second value');
    await page.getByRole('dialog').getByRole('alert').waitFor(); // it exists
    await screenshot(page, `${colorScheme}-new-secret`);
    await expectAccessible(page, `the dialog for a secret, ${colorScheme}`);
    await page.keyboard.press('Escape');

    const row = page.getByRole('row').filter({ hasText: 'OPENAI_API_KEY' });
    await row.getByRole('button', { name: 'Replace OPENAI_API_KEY' }).click();
    const replace = page.getByRole('dialog', { name: 'Replace OPENAI_API_KEY' });
    await replace.getByLabel('New value').fill('third value');
    await replace.getByRole('button', { name: 'Replace value' }).click();
    await page.getByText('OPENAI_API_KEY replaced').waitFor();
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    await screenshot(page, `${colorScheme}-secrets-list`);
    await expectAccessible(page, `the list of secrets, ${colorScheme}`);
    for (const value of ['first value', 'third value']) expect(await page.content()).not.toContain(value);
    expect(await platform.svc.sandboxes.secrets.get('OPENAI_API_KEY')).toMatchObject({ version: 2 });

    await row.getByRole('button', { name: 'Delete OPENAI_API_KEY' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete secret' }).click();
    await page.getByText('OPENAI_API_KEY deleted').waitFor();
    await row.waitFor({ state: 'detached' });
    await opened.expectNoFault();
  });

  it.each(THEMES)('are added to requests by rules of a sandbox (%s)', async (colorScheme) => {
    await platform.svc.sandboxes.secrets.set('MAPS_KEY', 'a value');
    await using opened = await openConsole(browser, platform, { colorScheme, expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}/settings`);
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add rule' });
    await dialog.getByLabel('Host').fill('1.2.3.4');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByRole('alert').waitFor(); // an address is no hostname
    await dialog.getByLabel('Host').fill('*.maps.example');
    await dialog.getByRole('combobox', { name: 'Set' }).click();
    await page.getByRole('option', { name: 'Query parameter' }).click();
    await screenshot(page, `${colorScheme}-add-egress-rule`);
    await expectAccessible(page, `the dialog for a rule, ${colorScheme}`);
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page.getByText('Rule for *.maps.example added').waitFor();
    const row = page.getByRole('row').filter({ hasText: '*.maps.example' });
    await row.getByText('?key=').waitFor();
    await screenshot(page, `${colorScheme}-egress-rules`);
    await expectAccessible(page, `the rules of a sandbox, ${colorScheme}`);
    expect((await sandbox.get()).egress_rules).toMatchObject([
      { host: '*.maps.example', query: 'key', secret: 'MAPS_KEY', template: '{value}' },
    ]);
    await row.getByRole('button', { name: 'Remove the rule for *.maps.example' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove rule' }).click();
    await page.getByText('Rule for *.maps.example removed').waitFor();
    await row.waitFor({ state: 'detached' });
    expect((await sandbox.get()).egress_rules).toEqual([]);
    await opened.expectNoFault();
  });
});
