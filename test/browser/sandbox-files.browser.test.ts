import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

const MiB = 1024 * 1024;
/** An image of 2×2 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNQCbsGRAwQCgAiBgVBnPGIHgAAAABJRU5ErkJggg==',
  'base64',
);

describeRequiring(SANDBOX_REQUIREMENTS, 'files of a sandbox in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;
  let folder: TemporaryFolder;

  beforeAll(async () => {
    [browser, platform, folder] = await Promise.all([
      launchBrowser(),
      startPlatform({ config: SANDBOX_CONFIG }),
      temporaryFolder(),
    ]);
    sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: 'file-box' });
    await sandbox.files.write(
      '/work/app/main.py',
      'import os\n\n\ndef greet(name):\n    # a greeting\n    return "hello " + name\n',
    );
    await sandbox.files.write('/work/notes.txt', 'one\n');
    await sandbox.files.write('/work/picture.png', PNG);
    await sandbox.files.write('/work/data.bin', new Uint8Array([0, 1, 2, 255]));
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
    await folder.remove();
  });
  const filesPath = (path: string, file?: string): string => {
    const query = new URLSearchParams({ path: `"${path}"`, ...(file !== undefined && { file: `"${file}"` }) });
    return `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}/files?${query.toString()}`;
  };

  it('navigates folders, and creates, renames and deletes entries', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [409] });
    const { page } = opened;
    await signIn(page, platform, filesPath('/'));
    await page.getByRole('link', { name: 'work', exact: true }).click();
    await page.getByRole('link', { name: 'notes.txt' }).waitFor();
    await screenshot(page, 'light-sandbox-files');
    await expectAccessible(page, 'the files of a sandbox');
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('deep/er');
    await page.getByRole('button', { name: 'Create folder' }).click();
    await page.getByRole('link', { name: 'deep', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Actions for notes.txt' }).click();
    await page.getByRole('menuitem', { name: 'Rename or move…' }).click();
    const name = page.getByRole('dialog').getByLabel('New name or path');
    await name.fill('data.bin');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await name.fill('deep/er/notes.md');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await expect.poll(() => page.getByRole('link', { name: 'notes.txt' }).count()).toBe(0);
    expect(await sandbox.files.readText('/work/deep/er/notes.md')).toBe('one\n');

    await page.getByRole('checkbox', { name: 'Select deep' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'deep', exact: true }).count()).toBe(0);
    // An open dialog hides the roles below it, so the link would not be found.
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await expect(sandbox.files.stat('/work/deep')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await opened.expectNoFault();
  });

  it('uploads files with progress and downloads them byte for byte', async () => {
    const file = join(folder.path, 'survey.bin');
    const bytes = randomBytes(12 * MiB);
    await writeFile(file, bytes);
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath('/work'));
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').waitFor();
    await page.getByRole('link', { name: 'survey.bin' }).waitFor();
    await page.getByRole('button', { name: 'Actions for survey.bin' }).click();
    await screenshot(page, 'light-sandbox-files-menu');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download survey.bin' }).click(),
    ]);
    expect((await readFile(await download.path())).equals(bytes)).toBe(true);
    await opened.expectNoFault();
  });

  it('edits text with syntax highlighting, and asks before it overwrites another writer’s change', async () => {
    await using opened = await openConsole(browser, platform, { expectedStatuses: [412] });
    const { page } = opened;
    await signIn(page, platform, filesPath('/work/app'));
    await page.getByRole('link', { name: 'main.py' }).click();
    const editor = page.getByRole('textbox', { name: 'Content of main.py' });
    await editor.getByText('def greet(name):').waitFor();
    await screenshot(page, 'light-sandbox-editor');
    await expectAccessible(page, 'the editor');
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# mine');
    await page.getByText('unsaved').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('main.py saved').waitFor();
    expect(await sandbox.files.readText('/work/app/main.py')).toMatch(/# mine$/);

    await sandbox.files.write('/work/app/main.py', 'of another\n');
    await page.keyboard.type(' again');
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('alertdialog', { name: 'main.py has changed' });
    await question.waitFor();
    await screenshot(page, 'light-sandbox-editor-conflict');
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await sandbox.files.readText('/work/app/main.py')).toBe('of another\n');
    await page.getByRole('button', { name: 'Close file' }).click();
    await page
      .getByRole('alertdialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await page.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Overwrite' }).click();
    await page.getByText('main.py saved').first().waitFor();
    await expect.poll(() => sandbox.files.readText('/work/app/main.py')).toMatch(/# mine again$/);
    await opened.expectNoFault();
  });

  it('creates a file and opens it', async () => {
    await using opened = await openConsole(browser, platform, { colorScheme: 'dark' });
    const { page } = opened;
    await signIn(page, platform, filesPath('/work'));
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('run.sh');
    await page.getByRole('button', { name: 'Create file' }).click();
    const editor = page.getByRole('textbox', { name: 'Content of run.sh' });
    await editor.waitFor();
    await page.keyboard.type('#!/bin/sh\nfor each in "$@"; do echo "$each"; done # says all');
    await screenshot(page, 'dark-sandbox-editor');
    await page.keyboard.press('Control+s');
    await page.getByText('run.sh saved').waitFor();
    expect(await sandbox.files.readText('/work/run.sh')).toMatch(/^#!\/bin\/sh\nfor each/);
    await opened.expectNoFault();
  });

  it('displays a picture, and says that other bytes are not text', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath('/work', '/work/picture.png'));
    const picture = page.getByRole('img', { name: 'Preview of picture.png' });
    await expect.poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth)).toBe(2);
    await page.goto(filesPath('/work', '/work/data.bin'));
    await page.getByText('Preview not available').waitFor();
    await screenshot(page, 'light-sandbox-file-bytes');
    await opened.expectNoFault();
  });
});
