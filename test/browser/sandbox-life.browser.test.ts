import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { focusTerminal, SANDBOX_CONFIG, SANDBOX_REQUIREMENTS, terminalText } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(SANDBOX_REQUIREMENTS, 'the lifecycle of a sandbox in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;
  let path: string;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: 'life-box', labels: { team: 'web' } });
    path = `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}`;
    await sandbox.files.write('/work/notes.txt', 'one\n');
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  it('is shown live: pausing, resuming, stopping and starting', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `${path}/events`);
    const table = page.getByRole('table', { name: 'Sandbox events' });
    await table.getByText('Created').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('#content header').getByText('Paused').waitFor();
    await table.getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await table.getByText('Resumed').waitFor();
    await sandbox.stop();
    await table.getByText('Stopped', { exact: true }).waitFor();
    await sandbox.start();
    await page.locator('#content header').getByText('Running').waitFor();
    await screenshot(page, 'light-sandbox-events');
    await opened.expectNoFault();
  });

  it('is not resumed by opening its page, only by the user', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await sandbox.pause();
    await signIn(page, platform, path);
    await page.getByText('The sandbox is paused').waitFor();
    for (const tab of ['files', 'metrics', 'snapshots', 'ports', 'events', 'settings']) {
      await page.goto(`${path}/${tab}`);
      await page.getByRole('heading', { level: 1, name: 'life-box' }).waitFor();
      await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    }
    await page.goto(`/w/${platform.workspaceUuid}`);
    await page.getByRole('region', { name: 'Sandboxes' }).getByText('Paused', { exact: true }).first().waitFor();
    expect((await platform.svc.sandboxes.of(sandbox.id).get()).paused_at).not.toBeNull();
    await page.goto(path);
    await page.getByText('The sandbox is paused').waitFor();
    await screenshot(page, 'light-sandbox-paused');
    await expectAccessible(page, 'a paused sandbox');
    await page.locator('#content').getByRole('button', { name: 'Resume' }).last().click();
    await focusTerminal(page);
    await opened.expectNoFault();
  });

  it('draws resource usage', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `${path}/metrics`);
    const memory = page.getByRole('img', { name: /^Memory: / });
    await memory.waitFor();
    expect(await memory.getAttribute('aria-label')).toMatch(/limit 512 MiB/);
    await page.getByRole('img', { name: /^Disk: / }).waitFor();
    await screenshot(page, 'light-sandbox-metrics');
    await opened.expectNoFault();
  });

  it('opens a port by a link to the server inside', async () => {
    const served = await sandbox.run(
      'mkdir -p /www && echo "<h1>from inside</h1>" > /www/index.html && httpd -p 8080 -h /www',
    );
    expect(served.exitCode).toBe(0);
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `${path}/ports`);
    await page.getByLabel('Port', { exact: true }).fill('8080');
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = page.getByRole('link', { name: 'Open' });
    await link.waitFor();
    await screenshot(page, 'light-sandbox-ports');
    const [shown] = await Promise.all([opened.context.waitForEvent('page'), link.click()]);
    await shown.getByRole('heading', { name: 'from inside' }).waitFor();
    await page.getByRole('button', { name: 'Revoke links to port 8080' }).click();
    await page.getByText('No ports of this sandbox are reachable from outside.').waitFor();
    expect(await sandbox.ports()).toEqual([]);
    await page.getByLabel('Port', { exact: true }).fill('70000');
    await page.getByText('Enter a port from 1 to 65535.').waitFor();
    await opened.expectNoFault();
  });

  it('keeps files in a snapshot and creates another sandbox from it', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `${path}/snapshots`);
    await page.getByRole('button', { name: 'Take snapshot' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('before-lunch');
    await page.getByRole('button', { name: 'Take snapshot' }).click();
    const row = page.getByRole('row').filter({ hasText: 'before-lunch' });
    await row.waitFor();
    await screenshot(page, 'light-sandbox-snapshots');
    await row.getByRole('button', { name: 'New sandbox' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('copy-box');
    await page.getByRole('button', { name: 'Create sandbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'copy-box' }).waitFor();
    await focusTerminal(page);
    await page.keyboard.type('cat /work/notes.txt\n');
    await expect.poll(() => terminalText(page)).toMatch(/^one$/m);

    await page.goto(`${path}/snapshots`);
    await row.getByRole('button', { name: 'Delete before-lunch' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete snapshot' }).click();
    await page.getByText('No snapshots yet').waitFor();
    await opened.expectNoFault();
  });

  it('lists snapshots of all sandboxes, including deleted ones', async () => {
    const gone = await platform.svc.sandboxes.create({ image: 'busybox', name: 'gone-box' });
    await gone.snapshot({ name: 'left-over' });
    await gone.delete();
    await sandbox.snapshot({ name: 'of-today' });
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/sandboxes`);
    await page.getByRole('navigation', { name: 'Sandboxes and snapshots' }).getByText('Snapshots').click();
    await page.getByRole('heading', { level: 1, name: 'Snapshots' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'left-over' });
    await row.getByText('from a deleted sandbox').waitFor();
    await page.getByText(/Total size/).waitFor();
    await page.getByRole('row').filter({ hasText: 'of-today' }).getByRole('link', { name: 'life-box' }).waitFor();
    await row.getByRole('button', { name: 'New sandbox' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('back-again');
    await page.getByRole('button', { name: 'Create sandbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'back-again' }).waitFor();
    await focusTerminal(page); // leaving a terminal while it opens makes the browser warn
    await page.goBack();
    await row.getByRole('button', { name: 'Delete left-over' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete snapshot' }).click();
    await row.waitFor({ state: 'detached' });
    await opened.expectNoFault();
  });

  it('creates, mounts, resizes and deletes a volume', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/sandboxes/volumes`);
    await page.getByText('No volumes yet').waitFor();
    await page.getByRole('button', { name: 'New volume' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('data');
    await page.getByRole('dialog').getByLabel('Size (MiB)').fill('64');
    await page.getByRole('button', { name: 'Create volume' }).click();
    const row = page.getByRole('row').filter({ hasText: 'data' });
    await row.getByText('not mounted').waitFor();
    const holder = await platform.svc.sandboxes.create({
      image: 'busybox',
      name: 'holder',
      volumes: [{ name: 'data', path: '/data' }],
    });
    await row.getByText('mounted by holder').waitFor();
    await row.getByRole('button', { name: 'Delete data' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete volume' }).click();
    await page
      .getByRole('alertdialog')
      .getByText(/the sandbox holder mounts it/)
      .waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    await holder.delete();
    await row.getByText('not mounted').waitFor();
    await row.getByRole('button', { name: 'Resize' }).click();
    await page.getByRole('dialog').getByLabel('Size (MiB)').fill('128');
    await page.getByRole('button', { name: 'Resize volume' }).click();
    await row.getByText('128 MiB').waitFor();
    await row.getByRole('button', { name: 'Delete data' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete volume' }).click();
    await page.getByText('No volumes yet').waitFor();
  });

  for (const look of LOOKS.filter(({ name }) => name === 'dark' || name === 'phone-light')) {
    it(`has readable pages that fit the window: ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await signIn(page, platform, path);
      const list = `/w/${platform.workspaceUuid}/sandboxes`;
      await visit(page, `${look.name}-sandboxes`, list, 'Sandboxes');
      await visit(page, `${look.name}-snapshots`, `${list}/snapshots`, 'Snapshots');
      await visit(page, `${look.name}-volumes`, `${list}/volumes`, 'Volumes');
      for (const tab of ['', '/files', '/metrics', '/snapshots', '/ports', '/events', '/settings']) {
        await visit(page, `${look.name}-sandbox${tab.replace('/', '-')}`, `${path}${tab}`, 'life-box');
      }
      // The tab row is scrolled to the current tab.
      const current = page.getByRole('navigation', { name: 'Sandbox', exact: true }).locator('[aria-current]');
      const window = page.viewportSize()?.width ?? 0;
      const box = await current.boundingBox();
      expect((box?.x ?? window) + (box?.width ?? 0)).toBeLessThanOrEqual(window);
      await page.goto(`${list}?create=true`);
      const dialog = page.getByRole('dialog', { name: 'New sandbox' });
      await dialog.getByRole('radio').first().waitFor();
      await screenshot(page, `${look.name}-sandbox-new`);
      await expectAccessible(page, `the dialog of a new sandbox, ${look.name}`);
      await opened.expectNoFault();
    });
  }
});
