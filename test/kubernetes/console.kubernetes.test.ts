import { randomUUID } from 'node:crypto';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder, requirement } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from '../browser/support/accessibility.ts';
import { launchBrowser } from '../browser/support/browser.ts';
import { openConsole, signIn } from '../browser/support/console-page.ts';
import { LOOKS, visit } from '../browser/support/looks.ts';
import { startPlatform, type RunningPlatform } from '../browser/support/platform.ts';
import { focusTerminal, terminalText } from '../browser/support/sandboxes.ts';
import { screenshot } from '../browser/support/screenshots.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';

const reason = (await kubernetesRequirement()) ?? requirement('chromium');
const TITLE = 'a real cluster in the console';
/** Unique per run: a terminating namespace accepts no new objects. */
const NAMESPACE = `console-${randomUUID().slice(0, 8)}`;

const MANIFEST = `apiVersion: v1
kind: Namespace
metadata: { name: ${NAMESPACE} }
`;
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: localhost/busybox:1
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "echo hello from the pod; while true; do if [ -f /tmp/more ]; then cat /tmp/more; rm /tmp/more; fi; sleep 1; done"]
        - name: beside
          image: localhost/busybox:1
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "echo it stands beside; exec sleep 86400"]
`;

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let kubernetes: Kubernetes;
  let platform: RunningPlatform;
  let browser: Browser;
  let folder: TemporaryFolder;
  let agent: RunningAgent | undefined;
  let clusterId: string;
  const path = (rest = ''): string => `/w/${platform.workspaceUuid}/clusters/${clusterId}${rest}`;
  const podLink = (page: Page) => page.getByRole('link', { name: /^web-/ }).first();

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    [browser, platform, folder] = await Promise.all([
      launchBrowser(),
      startPlatform({ config: { services: ['clusters'] } }),
      temporaryFolder(),
    ]);
    await kubernetes.kubectl.withInput(MANIFEST, 'apply', '-f', '-');
    const created = await platform.svc.clusters.create('home');
    clusterId = created.id;
    agent = startAgent({
      url: platform.url,
      token: created.token,
      clusterName: 'home',
      clusterId,
      kubeconfig: kubernetes.kubeconfig,
      stateFolder: folder.path,
      environment: { TUNNEL_ENABLED: 'true' },
    });
    // Both connections are up once a read through the second one succeeds.
    const nodes = () => platform.svc.clusters.of(clusterId).nodes();
    await waitFor(
      () =>
        nodes().then(
          ({ items }) => items.length > 0,
          () => false,
        ),
      {
        timeoutMs: 120_000,
        intervalMs: 500,
        description: () => `the agent; it said:\n${agent?.log()}`,
      },
    );
  });
  afterAll(async () => {
    await browser?.close();
    await agent?.stop();
    await platform?.[Symbol.asyncDispose]();
    await kubernetes?.kubectl('delete', 'namespace', NAMESPACE, '--wait=false');
    await kubernetes?.stop();
    await folder?.remove();
  });

  it('deploys the typed manifest after a dry run that lists the fields, and waits until it is ready', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path('/deploy'));
    await page.getByRole('heading', { name: 'Deploy a manifest' }).waitFor();
    await page.getByLabel('Project').fill('shop');
    await page.getByLabel('Namespace').fill(NAMESPACE);
    await page.getByRole('textbox', { name: 'Content of manifest.yaml' }).click();
    await page.keyboard.insertText(DEPLOYMENT);
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('Plan: 1 created').waitFor();
    await page.getByRole('heading', { name: 'Field changes' }).waitFor();
    await page.getByText('.spec', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.getByText('1 created', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByText('Succeeded', { exact: true }).waitFor();
    await opened.expectNoFault();
  });

  it('lists nodes, workloads and their pods', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path('/nodes'));
    await page.getByRole('row').nth(1).getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Workloads' }).click();
    const workload = page.getByRole('row').filter({ hasText: `Deployment in ${NAMESPACE}` });
    await workload.getByText('Available').waitFor();
    await workload.getByText('1 / 1').waitFor();
    await workload.getByRole('link', { name: 'web' }).click();
    await page.getByText('app=web').waitFor();
    await podLink(page).waitFor();
    const row = page.getByRole('row').filter({ hasText: `in ${NAMESPACE}` });
    await row.getByText('Running').waitFor();
    await row.getByText('2 / 2').waitFor();
    await page.getByRole('button', { name: 'Show all pods' }).click();
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('nothing-like-it');
    await page.getByRole('searchbox', { name: 'Name contains' }).press('Enter');
    await page.getByText('No matching pods').waitFor();
    await opened.expectNoFault();
  });

  it('follows the log of a container, pauses it on request, and switches containers', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path(`/pods?namespace=${NAMESPACE}`));
    await podLink(page).click();
    const lines = page.getByLabel('Log lines', { exact: true });
    await lines.getByText('hello from the pod').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const pod = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    const say = (text: string) =>
      kubernetes.kubectl('-n', NAMESPACE, 'exec', pod, '-c', 'main', '--', 'sh', '-c', `echo ${text} > /tmp/more`);
    await say('second line');
    await lines.getByText('second line').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await say('third line');
    await page.getByText('Paused. New lines are buffered.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await lines.getByText('third line').waitFor();
    await screenshot(page, 'light-pod-logs');
    await expectAccessible(page, 'the log of a pod');
    await page.getByRole('combobox', { name: 'Container' }).click();
    await page.getByRole('option', { name: /beside/ }).click();
    await lines.getByText('it stands beside').waitFor();
    await page.getByRole('checkbox', { name: 'Timestamps' }).click();
    await lines.getByText(/^\d{4}-\d{2}-\d{2}T\S+ it stands beside/).waitFor();
    await opened.expectNoFault();
  });

  it('opens a shell in a pod and reports its exit', async () => {
    await using opened = await openConsole(browser, platform, { colorScheme: 'dark' });
    const { page } = opened;
    await signIn(page, platform, path(`/pods?namespace=${NAMESPACE}`));
    await podLink(page).click();
    await page.getByRole('link', { name: 'Shell' }).click();
    await focusTerminal(page);
    const shows = (pattern: RegExp) => expect.poll(() => terminalText(page), { timeout: 60_000 }).toMatch(pattern);
    await page.keyboard.type('echo sum $((40 + 2)); stty size\n');
    await shows(/sum 42\n\d+ \d{2,}/);
    await screenshot(page, 'dark-pod-shell');
    await expectAccessible(page, 'the shell of a pod');
    await page.keyboard.type('exit 3\n');
    await page.getByText('The shell ended with exit code 3.').waitFor();
    await page.getByRole('button', { name: 'New shell' }).click();
    await focusTerminal(page);
    await page.keyboard.type('echo once more\n');
    await shows(/^once more$/m);
    await opened.expectNoFault();
  });

  for (const look of LOOKS) {
    it(`keeps workload pages accessible and within the window: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform);
      const { items } = await platform.svc.clusters.of(clusterId).pods({ namespace: NAMESPACE });
      await visit(page, `${look.name}-cluster-nodes`, path('/nodes'), 'home');
      await visit(page, `${look.name}-cluster-workloads`, path('/workloads'), 'home');
      await visit(page, `${look.name}-cluster-pods`, path('/pods'), 'home');
      await visit(page, `${look.name}-cluster-pod`, path(`/pods/${NAMESPACE}/${items[0]?.name ?? ''}`), 'home');
      await opened.expectNoFault();
    });
  }

  it('marks its data as stale when the agent goes offline', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [503] });
    const { page } = opened;
    await signIn(page, platform, path('/pods'));
    await podLink(page).waitFor();
    await agent?.stop();
    agent = undefined;
    await page.getByRole('heading', { name: /^The agent is (reconnecting|offline)$/ }).waitFor();
    await podLink(page).waitFor();
    await page.goto(path('/nodes'));
    await page.getByText(/^The cluster cannot be reached: /).waitFor();
    await opened.expectNoFault();
  });
});
