import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxHandle, VolumeFiles } from '@svc/sdk';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { filesPath, testFileBrowser } from './support/file-browser-suite.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { focusTerminal, SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';
import { seedPlatform, type Seed } from './support/seed.ts';

const MiB = 1024 * 1024;
const GUEST = { email: 'henrietta@example.com', password: 'period and luminosity' };
const LONG_NAME = 'a name of a file that is much longer than the room that there is for it.tar.gz';
/** One of the pages of a sandbox has this name, too. */
const SMALL = 'files';

describeRequiring(SANDBOX_REQUIREMENTS, 'files of a volume in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let seed: Seed;
  let holder: SandboxHandle;
  let files: VolumeFiles;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    seed = await seedPlatform(platform);
    const { volumes } = platform.svc.sandboxes;
    await volumes.create({ name: 'data', size_mb: 128 });
    await volumes.create({ name: SMALL, size_mb: 64 });
    files = volumes.files('data');
    holder = await platform.svc.sandboxes.create({
      image: 'busybox',
      name: 'holder',
      volumes: [{ name: 'data', path: '/data' }],
    });
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });
  const listPath = (): string => `/w/${platform.workspaceUuid}/sandboxes/volumes`;
  const pageOf = (name: string) => ({ pagePath: `${listPath()}/${name}` });

  testFileBrowser('volume', () => ({ browser, platform, files, ...pageOf('data') }));

  it('are reached from the list of volumes and from a sandbox that mounts one', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, listPath());
    await page.getByRole('link', { name: 'data' }).click();
    await page.getByRole('heading', { level: 1, name: 'data' }).waitFor();
    const header = page.locator('#content header').first();
    await header.getByText('128 MiB').waitFor();
    await header.getByText(/^Created/).waitFor();
    await page.getByRole('table', { name: 'Files in /' }).waitFor();
    await header.getByRole('link', { name: 'holder' }).click();
    await page.getByRole('heading', { level: 1, name: 'holder' }).waitFor();
    await focusTerminal(page); // leaving a terminal while it opens makes the browser warn
    await page.getByRole('navigation', { name: 'Sandbox', exact: true }).getByText('Settings').click();
    await page.getByText('Volume data').scrollIntoViewIfNeeded();
    await screenshot(page, 'light-volume-in-settings');
    await page.getByRole('link', { name: '/data' }).click();
    await page.getByRole('heading', { level: 1, name: 'data' }).waitFor();
    await opened.expectNoFault();
  });

  it('appear when a program of a sandbox writes them', async () => {
    await files.mkdir('/arriving');
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath(pageOf('data'), '/arriving'));
    await page.getByText('This folder is empty').waitFor();
    await holder.run('echo done > /data/arriving/report.txt');
    await page.getByRole('link', { name: 'report.txt' }).waitFor();
    await opened.expectNoFault();
  });

  it('show what programs of a sandbox wrote, and refuse what is no file', async () => {
    await holder.run(
      'mkdir -p /data/odd && cd /data/odd && mkfifo pipe && ln -s /etc/hostname outside && ln -s /work inside',
    );
    await files.mkdir('/work');
    await using opened = await openConsole(browser, platform, { expectedStatuses: [400, 404, 409] });
    const { page } = opened;
    await signIn(page, platform, filesPath(pageOf('data'), '/odd'));
    await page.getByText('→ /etc/hostname').waitFor();
    await page.getByRole('link', { name: 'pipe' }).click();
    await page.getByRole('heading', { name: 'The file cannot be opened' }).waitFor();
    await screenshot(page, 'light-volume-pipe');
    await expectAccessible(page, 'a pipe');
    await page.getByRole('button', { name: 'Close file' }).click();
    await page.getByRole('link', { name: 'outside' }).click(); // ends in the volume, which has no such file
    await page.getByRole('heading', { name: 'File or folder not found' }).waitFor();
    await page.getByRole('button', { name: 'Close file' }).click();
    await page.getByRole('link', { name: 'inside' }).click();
    await page
      .getByRole('table', { name: 'Files in /odd/inside' })
      .or(page.getByText('This folder is empty'))
      .waitFor();

    await page.goto(filesPath(pageOf('data'), '/'));
    await page.getByRole('button', { name: 'Actions for odd' }).click();
    await page.getByRole('menuitem', { name: 'Rename or move…' }).click();
    await page.getByRole('dialog').getByLabel('New name or path').fill('odd/itself');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('a folder cannot be moved into itself').waitFor();
    await screenshot(page, 'light-volume-into-itself');
    await opened.expectNoFault();
  });

  it('stay within the size of the volume: a failed upload continues once it is larger', async () => {
    const small = platform.svc.sandboxes.volumes.files(SMALL);
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'another.bin');
    await writeFile(file, new Uint8Array(24 * MiB));
    await using opened = await openConsole(browser, platform, { expectedStatuses: [507] });
    const { page } = opened;
    await signIn(page, platform, pageOf(SMALL).pagePath);
    await page.getByText('This folder is empty').waitFor();
    await screenshot(page, 'light-volume-empty');
    await expectAccessible(page, 'an empty volume');
    await small.write('/large.bin', new Uint8Array(40 * MiB));
    await page.getByLabel('Files to upload').setInputFiles(file);
    const tray = page.getByRole('region', { name: 'Uploads' });
    await tray.getByText('The disk is full').waitFor();
    await screenshot(page, 'light-volume-full');
    await page.getByRole('button', { name: 'Resize…' }).click();
    await page.getByRole('dialog').getByLabel('Size (MiB)').fill('160');
    await page.getByRole('button', { name: 'Resize volume' }).click();
    await page.locator('#content header').first().getByText('160 MiB').waitFor();
    await tray.getByRole('button', { name: 'Resume another.bin' }).click();
    await page.getByRole('link', { name: 'another.bin' }).waitFor();
    expect((await small.stat('/another.bin')).size).toBe(24 * MiB);
    await opened.expectNoFault();
  });

  it('end with the volume, whose page then says that it does not exist', async () => {
    await platform.svc.sandboxes.volumes.create({ name: 'short-lived', size_mb: 64 });
    await using opened = await openConsole(browser, platform, { expectedStatuses: [404, 409] });
    const { page } = opened;
    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Delete volume' }).click();
    };
    await signIn(page, platform, pageOf('data').pagePath);
    await remove();
    await page
      .getByRole('alertdialog')
      .getByText(/the sandbox holder mounts it/)
      .waitFor();
    await screenshot(page, 'light-volume-delete-refused');
    await page.goto(pageOf('short-lived').pagePath);
    await page.getByText('Not mounted').waitFor();
    await remove();
    await page.getByRole('heading', { level: 1, name: 'Volumes' }).waitFor();
    await page.getByRole('link', { name: 'data' }).waitFor();
    expect(await page.getByRole('link', { name: 'short-lived' }).count()).toBe(0);
    await page.goto(pageOf('short-lived').pagePath);
    await page.getByRole('heading', { level: 1, name: 'Volume not found' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await screenshot(page, 'light-volume-missing');
    await expectAccessible(page, 'an unknown volume');
    await page.getByRole('link', { name: 'Show volumes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Volumes' }).waitFor();
    await opened.expectNoFault();
  });

  it('are only read by a guest, who is offered nothing that the API would refuse', async () => {
    const scope = { workspaceUuid: seed.teamWorkspaceUuid, teamUuid: seed.teamUuid };
    const { volumes } = platform.svc.sandboxes.in(scope);
    await volumes.create({ name: 'plates', size_mb: 64 });
    await volumes.files('plates').write('/sky/notes.txt', 'clear\n');
    await using opened = await openConsole(browser, platform, { expectedStatuses: [403] });
    const { page } = opened;
    await signIn(page, { ...platform, owner: GUEST }, `/w/${seed.teamWorkspaceUuid}/sandboxes/volumes`);
    expect(await buttonsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'plates', exact: true }).click();
    await page.getByRole('link', { name: 'sky' }).click();
    await page.getByRole('link', { name: 'notes.txt' }).waitFor();
    await screenshot(page, 'light-volume-guest');
    await expectAccessible(page, 'a volume for a guest');
    expect(await buttonsOf(page)).toEqual(['Actions for notes.txt']);
    await page.getByRole('button', { name: 'Actions for notes.txt' }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Download']);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'notes.txt' }).click();
    await page.getByText('read-only').waitFor();
    await page.getByRole('textbox', { name: 'Content of notes.txt' }).getByText('clear').waitFor();
    expect(await buttonsOf(page)).toEqual(['Close file']);
    const refused = await page.evaluate(`fetch('/api/auth/me').then((me) => me.json()).then((me) =>
      fetch('/api/volumes/plates/files?path=/sky/notes.txt&workspace_uuid=${scope.workspaceUuid}&team_uuid=${scope.teamUuid}', {
        method: 'DELETE',
        headers: { 'x-csrf-token': me.csrf_token },
      })).then(({ status }) => status)`);
    expect(refused).toBe(403);
    await opened.expectNoFault();
  });

  it.each([
    [
      409,
      'VOLUME_ELSEWHERE',
      'The volume data is on node n2 and can only be used there',
      'The volume is on another node',
    ],
    [
      503,
      'VOLUMES_BUSY',
      'Too many volumes are open for file access; try again later',
      'The volume cannot be opened yet',
    ],
    [
      501,
      'VOLUMES_UNAVAILABLE',
      'The driver docker does not support volumes; use the local driver',
      'Volumes are not available here',
    ],
  ])('say why they cannot be reached: %i %s', async (status, code, error, title) => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [status] });
    const { page } = opened;
    const body = { error, code, message: error, status, request_id: 'req-1', details: {} };
    await page.route('**/api/volumes/data/files/list*', (route) => route.fulfill({ status, json: body }));
    await signIn(page, platform, pageOf('data').pagePath);
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText(`${error}.`).waitFor();
    expect(await page.getByText('req-1').count()).toBe(0);
    await screenshot(page, `light-volume-${code.toLowerCase().replaceAll('_', '-')}`);
    await page.unroute('**/api/volumes/data/files/list*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Files in /' }).waitFor();
    await opened.expectNoFault();
  });

  it('are offered nowhere on a platform whose driver has no volumes', async () => {
    const scope = { workspaceUuid: seed.teamWorkspaceUuid, teamUuid: seed.teamUuid };
    const status = await platform.svc.platform.status(scope);
    const sandboxes = { ...status.services.sandboxes, missing_capabilities: ['volumes'] };
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await page.route('**/api/v1/platform/status*', (route) =>
      route.fulfill({ json: { ...status, services: { ...status.services, sandboxes } } }),
    );
    await page.route('**/api/volumes?*', (route) =>
      route.fulfill({ json: { volumes: [], count: 0, next_cursor: null } }),
    );
    await signIn(page, platform, listPath());
    await page.getByText('Volumes are not available here').waitFor();
    expect(await buttonsOf(page)).toEqual([]);
    await screenshot(page, 'light-volumes-not-available');
    await expectAccessible(page, 'a platform without volumes');
    await opened.expectNoFault();
  });

  for (const look of LOOKS) {
    it(`have readable pages that fit the window: ${look.name}`, async () => {
      const folder = `/${'deep/'.repeat(6)}down`;
      await files.write(`${folder}/${LONG_NAME}`, 'packed\n');
      await files.write(`${folder}/pictures/1.txt`, 'one\n');
      await using opened = await openConsole(browser, platform, { ...look.options, expectedStatuses: [404] });
      const { page } = opened;
      await signIn(page, platform, listPath());
      await visit(page, `${look.name}-volumes`, listPath(), 'Volumes');
      await visit(page, `${look.name}-volume`, pageOf('data').pagePath, 'data');
      await visit(page, `${look.name}-volume-folder`, filesPath(pageOf('data'), folder), 'data');
      await visit(
        page,
        `${look.name}-volume-file`,
        filesPath(pageOf('data'), folder, `${folder}/${LONG_NAME}`),
        'data',
      );
      await visit(page, `${look.name}-volume-missing`, pageOf('nothing-of-this-name').pagePath, 'Volume not found');
      await opened.expectNoFault();
    });
  }
});

/** Names of the buttons on the page, apart from those of the shell. */
async function buttonsOf(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (const button of await page.getByRole('main').getByRole('button').all()) {
    names.push((await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? '');
  }
  return names;
}
