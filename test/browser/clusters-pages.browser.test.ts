import type { PlayedAgent } from '@svc/clusters/testing';
import { describeRequiring } from '@svc/testing';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { beginDeploy, endDeploy, MANIFEST, playAgent, refuseDeploy, reportEvent } from './support/clusters.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(['chromium'], 'clusters in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let agent: PlayedAgent;
  let clusterId: string;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
  });
  afterAll(async () => {
    await browser.close();
    // Also closes the fake agent's connection.
    await platform[Symbol.asyncDispose]();
  });
  const listPath = (): string => `/w/${platform.workspaceUuid}/clusters`;
  const clusterPath = (rest = ''): string => `${listPath()}/${clusterId}${rest}`;

  it('adds a cluster: a name, a token shown once, and the agent as it connects', async () => {
    await using opened = await openConsole(browser, platform, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = opened;
    await signIn(page, platform, listPath());
    await page.getByText('No clusters yet').waitFor();
    await screenshot(page, 'light-clusters-empty');
    await expectAccessible(page, 'no clusters');
    await page.getByRole('button', { name: 'Add cluster' }).first().click();
    const naming = page.getByRole('dialog', { name: 'Add cluster' });
    await naming.getByLabel('Name').fill('Production');
    await naming.getByText('“P” is uppercase').waitFor();
    await screenshot(page, 'light-cluster-add-name');
    await naming.getByLabel('Name').fill('production');
    await naming.getByRole('button', { name: 'Continue' }).click();
    const connecting = page.getByRole('dialog', { name: 'Connect production' });
    await connecting.getByText('Waiting for the agent to connect…').waitFor();
    await screenshot(page, 'light-cluster-add-connect');
    await expectAccessible(page, 'the install commands');
    const copied = async (button: string): Promise<string> => {
      await connecting.getByRole('button', { name: button }).click();
      return (await page.evaluate('navigator.clipboard.readText()')) as string; // the clipboard's text
    };
    const token = await copied('Copy agent token');
    expect(token).toMatch(/^svc_agt_/);
    const image = await copied('Copy command to load the agent image on each node');
    expect(image).toContain('svc agent image --data'); // the platform of this test has none yet
    expect(image).toMatch(/\| ctr -n k8s\.io images import -$/);
    expect(await copied('Copy commands for Helm')).toMatch(/helm upgrade --install svc-agent/);
    await connecting.getByRole('combobox', { name: 'Install with' }).click();
    await page.getByRole('option', { name: /kubectl/ }).click();
    const commands = await copied('Copy commands for kubectl');
    expect(commands).toContain(token);
    expect(commands).not.toContain('helm upgrade');
    clusterId = (await platform.svc.clusters.of('production').get()).id;
    agent = await playAgent(platform, { id: clusterId, token });
    await connecting.getByText('Agent connected').waitFor();
    await connecting.getByText('Agent 9.9.9, Kubernetes v1.33.0').waitFor();
    await screenshot(page, 'light-cluster-add-connected');
    await connecting.getByRole('button', { name: 'Open cluster' }).click();
    await page.getByRole('heading', { level: 1, name: 'production' }).waitFor();
    await page.getByText('Online', { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(clusterPath());
    expect(await page.content()).not.toContain(token);
    await opened.expectNoFault();
  });

  it('lists clusters live, and rejects a name that is taken', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [409] });
    const { page } = opened;
    await signIn(page, platform, listPath());
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'production' }) });
    await row.getByText('Online').waitFor();
    await row.getByText('42%').waitFor();
    await page.getByRole('button', { name: 'Add cluster' }).click();
    await page.getByLabel('Name').fill('production');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The workspace already has a cluster named production').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    // External changes appear without a reload.
    await platform.svc.clusters.create('staging');
    const waiting = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'staging' }) });
    await waiting.getByText('Waiting for agent').waitFor();
    await platform.svc.clusters.of('staging').delete();
    await waiting.waitFor({ state: 'detached' });
    await opened.expectNoFault();
  });

  it('draws heartbeats over time, with a table of the same values', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath());
    await page.getByRole('img', { name: /^CPU: 42%/ }).waitFor();
    await page.getByRole('img', { name: /^Memory: 35%/ }).waitFor();
    await page.getByRole('img', { name: /^Pods: 12/ }).waitFor();
    await page.getByRole('button', { name: 'Show table' }).click();
    const table = page.getByRole('table', { name: 'Heartbeats over time' });
    // The agent keeps sending heartbeats: if the test takes longer than a step of the history, there are two rows.
    await table.getByText('42%').first().waitFor();
    await screenshot(page, 'light-cluster-heartbeats-table');
    await page.getByRole('combobox', { name: 'Period' }).click();
    await page.getByRole('option', { name: 'Last 7 days' }).click();
    await page.waitForURL(/span=7d/);
    await table.getByText('42%').first().waitFor();
    await opened.expectNoFault();
  });

  it('warns of clock skew and missing agent permissions until both are resolved', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath());
    const status = { nodes: 3, pods: 41, services: 12, health: 'healthy' };
    agent.clockSkewMs = 3_600_000;
    agent.heartbeat(0.42);
    const reason = 'nodes is forbidden: User "agent" cannot list resource "nodes"';
    agent.say('cluster_status', { ...status, limitations: [{ feature: 'events of nodes', reason }] });
    const warnings = page.getByRole('region', { name: 'Warnings' });
    await warnings.getByText(/The clock of the agent is 3[56]\d\d s ahead/).waitFor();
    await warnings.getByText(`The agent does not report events of nodes: ${reason}`).waitFor();
    await screenshot(page, 'light-cluster-warnings');
    await opened.expectNoFault();
    agent.clockSkewMs = 0;
    agent.heartbeat(0.42);
    agent.say('cluster_status', status);
    await warnings.waitFor({ state: 'detached' });
  });

  async function fillForm(page: Page, project: string, manifest = MANIFEST): Promise<void> {
    await page.getByRole('heading', { name: 'Deploy a manifest' }).waitFor();
    await page.getByLabel('Project').fill(project);
    await page.getByLabel('Namespace').fill('shop');
    const editor: Locator = page.getByRole('textbox', { name: 'Content of manifest.yaml' });
    await editor.click();
    await page.keyboard.insertText(manifest);
  }

  it('shows the changes of a dry run, then deploys and follows the deployment to its result', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath('/deployments'));
    await page.getByText('No deployments yet').waitFor();
    await page.getByRole('link', { name: 'Deploy', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Deploy a manifest' }).waitFor();
    await page.getByLabel('Project').fill('my shop');
    await page.getByText('Use letters and digits, with dots').waitFor();
    expect(await page.getByRole('button', { name: 'Dry run' }).isDisabled()).toBe(true);
    await fillForm(page, 'shop');
    await page.getByRole('button', { name: 'Dry run' }).click();
    const tried = await agent.next('deploy', 1);
    expect(tried.payload).toMatchObject({ project_id: 'shop', namespace: 'shop', manifest: MANIFEST, dry_run: true });
    endDeploy(agent, tried);
    await page.getByText('Plan: 1 created, 1 configured, 1 unchanged').waitFor();
    await page.getByRole('heading', { name: 'Field changes' }).waitFor();
    await page.getByText('.data.colour').waitFor();
    expect(await page.locator('del').allInnerTexts()).toEqual(['"red"']);
    expect(await page.locator('ins').allInnerTexts()).toEqual(['"blue"', '"large"']);
    await screenshot(page, 'light-cluster-dry-run');
    await expectAccessible(page, 'a dry run');
    await page.getByRole('switch', { name: 'Prune' }).click();
    await page.getByText('For an earlier version of this form').waitFor();
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    const deploy = await agent.next('deploy', 2);
    expect(deploy.payload).toMatchObject({ dry_run: false, prune: false });
    beginDeploy(agent, deploy);
    await page.getByText('1 of 3 objects').waitFor();
    await page.getByRole('progressbar', { name: 'Applying' }).waitFor();
    await screenshot(page, 'light-cluster-deploying');
    endDeploy(agent, deploy);
    await page.getByText('1 created, 1 configured, 1 unchanged', { exact: true }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Deployment' });
    await row.getByText('created').waitFor();
    await row.getByText('ready', { exact: true }).waitFor();
    await page.getByText('deprecated since v1.14').waitFor();
    await opened.expectNoFault();
  });

  it('names rejected objects with their location, and cancels a deployment', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, clusterPath('/deploy'));
    await fillForm(page, 'refused');
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    refuseDeploy(agent, await agent.next('deploy', 3));
    await page.getByRole('heading', { name: 'Forbidden at manifest[0].kind' }).waitFor();
    await page.getByText('is not for the whole cluster here').waitFor();
    await screenshot(page, 'light-cluster-deploy-refused');
    await page.goto(clusterPath('/deploy'));
    await fillForm(page, 'cancelled');
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    const deploy = await agent.next('deploy', 4);
    beginDeploy(agent, deploy);
    await page.getByText('1 of 3 objects').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel deployment' }).click();
    const cancel = await agent.next('cancel');
    expect(cancel.payload).toMatchObject({ command_id: deploy.id });
    agent.result(deploy.id, 'cancelled');
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All deployments' }).click();
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count()).toBe(5);
    await page.getByLabel('Project').fill('refused');
    await page.getByLabel('Project').press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await opened.expectNoFault();
  });

  it('rejects an invalid manifest before sending it, with the location of the error', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400] });
    const { page } = opened;
    await signIn(page, platform, clusterPath('/deploy'));
    await fillForm(page, 'broken', 'kind: [');
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/manifest/i)
      .waitFor();
    await opened.expectNoFault();
  });

  it('shows events as they happen, filtered by type on request', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, clusterPath('/events'));
    await page.getByText('No events yet').waitFor();
    reportEvent(agent, { event_type: 'pod_ready', resource: 'pod/web-1' });
    await page.getByText('pod/web-1').waitFor();
    reportEvent(agent, {
      event_type: 'pod_crash_loop',
      resource: 'pod/web-2',
      details: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' },
    });
    await page.getByText('CrashLoopBackOff: back-off 40s').waitFor();
    await page.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Crash loop' }).click();
    await page.getByText('pod/web-1').waitFor({ state: 'detached' });
    reportEvent(agent, { event_type: 'scaled', resource: 'deployment/web' });
    reportEvent(agent, { event_type: 'pod_crash_loop', resource: 'pod/web-3' });
    await page.getByText('pod/web-3').waitFor();
    expect(await page.getByText('deployment/web').count()).toBe(0);
    await page.getByLabel('Namespace').fill('elsewhere');
    await page.getByLabel('Namespace').press('Enter');
    await page.getByText('No matching events').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('deployment/web').waitFor();
    await opened.expectNoFault();
  });

  it('explains why workloads cannot be read through an agent without a tunnel', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [503] });
    const { page } = opened;
    for (const list of ['nodes', 'workloads', 'pods']) {
      await (list === 'nodes' ? signIn(page, platform, clusterPath('/nodes')) : page.goto(clusterPath(`/${list}`)));
      await page.getByText('The cluster cannot be reached: its agent has no tunnel.').waitFor();
    }
    await opened.expectNoFault();
  });

  for (const look of LOOKS) {
    it(`keeps every page accessible, within its policy and within the window: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, { ...look.options, expectedStatuses: [404] });
      const { page } = opened;
      await signIn(page, platform);
      const { items } = await platform.svc.clusters.of(clusterId).deployments({ projectId: 'shop' });
      const tried = items.find(({ dry_run: dryRun }) => dryRun)?.id ?? '';
      await visit(page, `${look.name}-clusters`, listPath(), 'Clusters');
      await visit(page, `${look.name}-cluster`, clusterPath(), 'production');
      await visit(page, `${look.name}-cluster-deployments`, clusterPath('/deployments'), 'production');
      await visit(page, `${look.name}-cluster-deployment`, clusterPath(`/deployments/${tried}`), 'production');
      await visit(page, `${look.name}-cluster-deploy`, clusterPath('/deploy'), 'production');
      await visit(page, `${look.name}-cluster-events`, clusterPath('/events'), 'production');
      await visit(page, `${look.name}-cluster-settings`, clusterPath('/settings'), 'production');
      await page.goto(`${listPath()}/cls-nowhere`);
      await page.getByRole('heading', { level: 1, name: 'Cluster not found' }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Cluster' }).count()).toBe(0);
      await opened.expectNoFault();
    });
  }
});
