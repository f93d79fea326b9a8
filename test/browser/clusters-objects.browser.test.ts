import type { PlayedAgent } from '@svc/clusters/testing';
import { describeRequiring } from '@svc/testing';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { playAgent, reportEvent } from './support/clusters.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const WHY = 'Container main: it ended with exit code 3; back-off 20s restarting failed container';

/** A pod as returned by the platform; `test/kubernetes` covers the lists of a real cluster. */
function podNamed(name: string): object {
  const state = 'CrashLoopBackOff';
  return {
    namespace: 'shop',
    name,
    state,
    message: WHY,
    phase: 'Running',
    ready: false,
    ready_containers: 0,
    total_containers: 1,
    restarts: 3,
    created_at: null,
    node: null,
    ip: null,
    owner: null,
    default_container: null,
    containers: [{ name: 'main', image: 'shop/web:1', init: false, state, ready: false, restarts: 3 }],
    cpu_usage_cores: null,
    memory_usage_bytes: null,
  };
}

/** Serves endless pages of one pod each; `hold` delays the second page. */
async function playPods(context: BrowserContext, hold: Promise<void>): Promise<void> {
  await context.route(
    ({ pathname }) => pathname.startsWith('/v1/') && pathname.endsWith('/pods'),
    async (route) => {
      const page = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0');
      if (page === 1) await hold;
      const json = { pods: [podNamed(`web-${page}`)], next_cursor: String(page + 1) };
      await route.fulfill({ json }).catch(() => undefined); // the page no longer waits for it
    },
  );
}

describeRequiring(['chromium'], 'pods of a large cluster in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let agent: PlayedAgent;
  let pods: string;
  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    const { id, token } = await platform.svc.clusters.create('production');
    agent = await playAgent(platform, { id, token });
    pods = `/w/${platform.workspaceUuid}/clusters/${id}/pods`;
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose](); // also closes the fake agent's connection
  });

  it('loads a requested page even when events arrive meanwhile, and says when the page limit is reached', async () => {
    await using opened = await openConsole(browser, platform);
    const { page, context } = opened;
    const held = Promise.withResolvers<void>();
    await playPods(context, held.promise);
    await signIn(page, platform, pods);
    const rows = page.locator('tbody tr');
    await page.getByRole('link', { name: 'web-0', exact: true }).waitFor();
    const asked = page.waitForRequest(/pods\?.*cursor=1/);
    await page.getByRole('button', { name: 'Load more' }).click();
    await asked;
    // The page applies events: one shown on a second console page has also reached this one.
    const events = await context.newPage();
    await events.goto(pods.replace(/pods$/, 'events'));
    reportEvent(agent, { event_type: 'pod_ready', resource: 'pod/web-9' });
    await events.getByText('pod/web-9').waitFor();
    held.resolve();
    await page.getByRole('link', { name: 'web-1', exact: true }).waitFor();
    for (let shown = 2; shown < 20; shown += 1) {
      await page.getByRole('button', { name: 'Load more' }).click();
      await expect.poll(() => rows.count()).toBe(shown + 1);
    }
    await page.getByText('Too many to show at once').waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
    await page.getByRole('link', { name: 'web-0', exact: true }).waitFor();
    await opened.expectNoFault();
  });

  it('explains on the page of a pod why it does not run', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [404, 503] });
    const { page, context } = opened;
    await playPods(context, Promise.resolve());
    await signIn(page, platform, `${pods}/shop/web-0/shell`);
    await page.getByText(WHY).waitFor();
    await screenshot(page, 'light-pod-why');
    await expectAccessible(page, 'a pod that does not run');
  });
});
