import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
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

describeRequiring(SANDBOX_REQUIREMENTS, 'webhooks of sandboxes', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let server: Server;
  let url: string;
  /** Types of the events that arrived. */
  let received: string[] = [];
  let status = 204;

  beforeAll(async () => {
    server = createServer((request, response) => {
      void json(request).then((event) => {
        received.push((event as { type: string }).type);
        response.writeHead(status).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
    url = `http://127.0.0.1:${port}/hook`;
    const sandboxes = { ...SANDBOX_CONFIG.sandboxes, webhooks: { allowed_networks: ['127.0.0.1/32'] } };
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: { sandboxes } })]);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
    server.close();
  });

  it.each(THEMES)('are created, tried, changed and deleted (%s)', async (colorScheme) => {
    received = [];
    status = 204;
    await using opened = await openConsole(browser, platform, { colorScheme, expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/sandboxes/webhooks`);
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'New webhook' });
    await dialog.getByLabel('URL').fill('http://10.0.0.1/hook');
    await dialog.getByRole('checkbox', { name: 'All events' }).click();
    await dialog.getByRole('checkbox', { name: 'Created', exact: true }).click();
    await dialog.getByRole('checkbox', { name: 'Deleted', exact: true }).click();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByRole('alert').waitFor(); // not a network that the operator allows
    await screenshot(page, `${colorScheme}-new-webhook`);
    await expectAccessible(page, `the dialog for a webhook, ${colorScheme}`);
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    const shown = page.getByRole('dialog', { name: 'Copy the signing secret now' });
    const first = await shown.locator('code').innerText();
    expect(first).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(first);

    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('Created, Deleted').waitFor();
    await row.getByText('Enabled').waitFor();
    const choose = async (item: string): Promise<void> => {
      await row.getByRole('button', { name: `Actions for ${url}` }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: `hook-${colorScheme}` });
    await expect.poll(() => received).toContain('created');
    await choose('Deliveries');
    const deliveries = page.getByRole('dialog', { name: 'Deliveries' });
    await deliveries.getByRole('row').filter({ hasText: sandbox.id }).getByText('Delivered').waitFor();
    await deliveries.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('Test event delivered').waitFor();
    await deliveries.getByRole('button', { name: /^Send again/ }).click();
    await page.getByText('Event delivered', { exact: true }).waitFor();
    expect(received).toEqual(['created', 'test', 'created']);
    await screenshot(page, `${colorScheme}-webhook-deliveries`);
    await expectAccessible(page, `the deliveries of a webhook, ${colorScheme}`);
    status = 500;
    await deliveries.getByRole('button', { name: 'Send test event' }).click();
    await deliveries
      .getByRole('alert')
      .getByText(/^Not delivered: .*500/)
      .waitFor();
    await deliveries.getByRole('button', { name: 'Close' }).last().click();

    await choose('Edit…');
    const edit = page.getByRole('dialog', { name: 'Edit webhook' });
    expect(await edit.getByRole('checkbox', { name: 'Deleted', exact: true }).isChecked()).toBe(true);
    await edit.getByRole('checkbox', { name: 'All events' }).click();
    await edit.getByLabel('Description').fill('tells the chat');
    await edit.getByRole('switch', { name: 'Send events' }).click();
    await edit.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Disabled').waitFor();
    await row.getByText('tells the chat').waitFor();
    await screenshot(page, `${colorScheme}-webhooks`);
    await expectAccessible(page, `the list of webhooks, ${colorScheme}`);
    expect(await platform.svc.sandboxes.webhooks.list()).toMatchObject([{ url, events: null, enabled: false }]);

    await choose('Rotate secret…');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click();
    expect(await shown.locator('code').innerText()).not.toBe(first);
    await shown.getByRole('button', { name: 'Done' }).click();
    await choose('Delete…');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
    expect(await platform.svc.sandboxes.webhooks.list()).toEqual([]);
    await sandbox.delete();
    await opened.expectNoFault();
  });
});
