import { connectAgent } from '@svc/clusters/testing';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { playAgent } from './support/clusters.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';
import { seedPlatform, type Seed } from './support/seed.ts';

const GUEST = { email: 'henrietta@example.com', password: 'period and luminosity' };

describeRequiring(['chromium'], 'a cluster of a team in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let seed: Seed;
  let created: { id: string; token: string };

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    seed = await seedPlatform(platform);
    const { teamUuid, teamWorkspaceUuid: workspaceUuid } = seed;
    created = await platform.svc.clusters.in({ workspaceUuid, teamUuid }).create('observatory');
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });
  const path = (rest = ''): string => `/w/${seed.teamWorkspaceUuid}/clusters${rest}`;
  const clusterPath = (rest = ''): string => path(`/${created.id}${rest}`);

  it('offers a guest only permitted actions, and explains why', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, { ...platform, owner: GUEST }, path('?create=true'));
    await page.getByRole('link', { name: 'observatory' }).waitFor();
    expect(await page.getByRole('button', { name: 'Add cluster' }).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('link', { name: 'observatory' }).click();
    await page.getByText('No agent has connected yet').waitFor();
    expect(await page.getByRole('link', { name: 'Deploy', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
    await page.getByText('Only owners and admins of the workspace can do this.', { exact: true }).waitFor();
    await page.getByText('Guests have read-only access.').waitFor();
    expect(await page.getByRole('button', { name: 'Delete cluster' }).count()).toBe(0);
    await screenshot(page, 'light-cluster-settings-guest');
    await expectAccessible(page, 'the settings for a guest');
    await page.goto(clusterPath('/deploy'));
    await page.getByText('Guests cannot deploy').waitFor();
    await opened.expectNoFault();
  });

  it('shows the install commands again, with a new token', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${seed.teamWorkspaceUuid}`);
    const card = page.getByRole('region', { name: 'Clusters' });
    await card.getByText('Waiting for agent').waitFor(); // never connected is not offline
    await page.goto(clusterPath());
    await page.getByRole('button', { name: 'Show install commands' }).click();
    const dialog = page.getByRole('dialog', { name: 'Show install commands' });
    await dialog.getByRole('button', { name: 'Create new token' }).click();
    const shown = page.getByRole('dialog', { name: 'Connect observatory' });
    const token = await shown
      .getByText(/^svc_agt_/)
      .first()
      .innerText();
    expect(token).not.toBe(created.token);
    expect(await shown.getByLabel('Commands for Helm', { exact: true }).innerText()).toContain(token);
    await page.keyboard.press('Escape');
    expect(await shown.isVisible(), 'Esc does not lose the token').toBe(true);
    await screenshot(page, 'light-cluster-install-again');
    await expectAccessible(page, 'the install commands again');
    created = { ...created, token };
    await shown.getByRole('button', { name: 'Close', exact: true }).last().click();
    await opened.expectNoFault();
  });

  it('says that its agent is offline and its data is stale', async () => {
    const agent = await playAgent(platform, created);
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath());
    await page.getByText('Online', { exact: true }).waitFor();
    await agent.close();
    await page.getByRole('heading', { name: /^The agent is (reconnecting|offline)$/ }).waitFor();
    await page.getByText('The data below is from then').waitFor();
    await screenshot(page, 'light-cluster-agent-away');
    await expectAccessible(page, 'a cluster without its agent');
    await page.goto(clusterPath('/deploy'));
    await page.getByText('The agent is not connected.').waitFor();
    expect(await page.getByRole('button', { name: 'Dry run' }).isDisabled()).toBe(true);
    await opened.expectNoFault();
  });

  it('rotates the token: the old one expires, the new one connects', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath('/settings'));
    await page.getByRole('button', { name: 'Rotate token' }).click();
    const asking = page.getByRole('dialog', { name: 'Rotate token' });
    await asking.getByRole('combobox', { name: 'Old token expires' }).click();
    await page.getByRole('option', { name: 'Immediately' }).click();
    await asking.getByRole('button', { name: 'Rotate token' }).click();
    const shown = page.getByRole('dialog', { name: 'New agent token' });
    const token = await shown.getByText(/^svc_agt_/).innerText();
    expect(token).not.toBe(created.token);
    const command = await shown.getByLabel('Command to update the Secret', { exact: true }).innerText();
    expect(command).toContain(`stringData: {SVC_TOKEN: "${token}"}`);
    expect(command).not.toContain('helm'); // reinstalling would reset the chart's values
    await screenshot(page, 'light-cluster-rotated');
    await shown.getByRole('button', { name: 'Done' }).click();
    const port = Number(new URL(platform.url).port);
    await expect(connectAgent({ port, token: created.token, clusterId: created.id })).rejects.toThrow('401');
    const agent = await playAgent(platform, { id: created.id, token });
    await page.getByText('Online', { exact: true }).waitFor();
    await agent.close();
    await opened.expectNoFault();
  });

  it('creates a kubeconfig with its own token', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath('/settings'));
    await page.getByRole('button', { name: 'Create kubeconfig' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create kubeconfig' });
    await dialog.getByLabel('Namespace').fill('stars');
    await screenshot(page, 'light-cluster-kubeconfig-form');
    await dialog.getByRole('button', { name: 'Create kubeconfig' }).click();
    const file = await dialog.getByLabel('kubeconfig', { exact: true }).innerText();
    expect(file).toContain('"current-context": "observatory"');
    expect(file).toContain('"namespace": "stars"');
    const token = /"token": "(\S+)"/.exec(file)?.[1] ?? '';
    expect(token).toMatch(/^svc_pat_/);
    const server = /"server": "(\S+)"/.exec(file)?.[1] ?? '';
    expect(server).toContain(`/v1/clusters/${created.id}`);
    await screenshot(page, 'light-cluster-kubeconfig');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('observatory.kubeconfig');
    const { items } = await platform.svc.accounts.tokens();
    expect(items.map(({ name }) => name)).toContain('kubeconfig for observatory');
    await opened.expectNoFault();
  });

  it('is deleted only after its name is typed', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [404] });
    const { page } = opened;
    await signIn(page, platform, clusterPath('/settings'));
    await page.getByRole('button', { name: 'Delete cluster…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete observatory?' });
    expect(await dialog.getByRole('button', { name: 'Delete cluster' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type “observatory” to confirm').fill('observatory');
    await screenshot(page, 'light-cluster-remove');
    await dialog.getByRole('button', { name: 'Delete cluster' }).click();
    await page.getByText('No clusters yet').waitFor();
    await opened.expectNoFault();
  });
});
