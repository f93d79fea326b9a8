import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RemoteFiles } from '@svc/sdk';
import { temporaryFolder } from '@svc/testing';
import type { Browser, Download } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './accessibility.ts';
import { openConsole, signIn } from './console-page.ts';
import { dropFile } from './drop-file.ts';
import type { RunningPlatform } from './platform.ts';
import { screenshot } from './screenshots.ts';

const MiB = 1024 * 1024;
/** An image of 2×2 pixels. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNQCbsGRAwQCgAiBgVBnPGIHgAAAABJRU5ErkJggg==',
  'base64',
);

export interface FilesPlace {
  readonly browser: Browser;
  readonly platform: RunningPlatform;
  readonly files: RemoteFiles;
  /** Path of the page with the files. */
  readonly pagePath: string;
}

/** Returns the path of the page for a folder or an open file. */
export function filesPath({ pagePath }: Pick<FilesPlace, 'pagePath'>, path: string, file?: string): string {
  const query = new URLSearchParams({ path: `"${path}"`, ...(file !== undefined && { file: `"${file}"` }) });
  return `${pagePath}?${query.toString()}`;
}

/** What the file browser can do with the files of a sandbox or a volume. `place` is called after earlier `beforeAll`s. */
export function testFileBrowser(kind: 'sandbox' | 'volume', place: () => FilesPlace): void {
  beforeAll(async () => {
    const { files } = place();
    await files.write(
      '/work/app/main.py',
      'import os\n\n\ndef greet(name):\n    # a greeting\n    return "hello " + name\n',
    );
    await files.write('/work/notes.txt', 'one\n');
    await files.write('/work/picture.png', PNG);
    await files.write('/work/data.bin', new Uint8Array([0, 1, 2, 255]));
  });
  testEntries(kind, place);
  testKeyboard(place);
  testTransfers(kind, place);
  testEditor(kind, place);
  testKinds(kind, place);
}

function testEntries(kind: string, place: () => FilesPlace): void {
  it('navigates folders, and creates, renames and deletes entries', async () => {
    const { browser, platform, files, pagePath } = place();
    await using opened = await openConsole(browser, platform, { expectedStatuses: [409] });
    const { page } = opened;
    await signIn(page, platform, pagePath);
    await page.getByRole('link', { name: 'work', exact: true }).click();
    await page.getByRole('link', { name: 'notes.txt' }).waitFor();
    await screenshot(page, `light-${kind}-files`);
    await expectAccessible(page, `the files of a ${kind}`);
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('deep/er');
    await page.getByRole('button', { name: 'Create folder' }).click();
    await page.getByRole('link', { name: 'deep', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Actions for notes.txt' }).click();
    await page.getByRole('menuitem', { name: 'Rename or move…' }).click();
    const name = page.getByRole('dialog').getByLabel('New name or path');
    await name.fill('data.bin');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('Already exists: /work/data.bin').waitFor();
    await screenshot(page, `light-${kind}-files-taken`);
    await name.fill('deep/er/notes.md');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    // An open dialog hides the roles below it, so the links would not be found.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('link', { name: 'notes.txt' }).count()).toBe(0);
    expect(await files.readText('/work/deep/er/notes.md')).toBe('one\n');

    await page.getByRole('checkbox', { name: 'Select deep' }).click();
    await page.getByRole('checkbox', { name: 'Select data.bin' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = page.getByRole('alertdialog', { name: 'Delete 2 items?' });
    await question.getByText('Folders are deleted with everything in them.').waitFor();
    await screenshot(page, `light-${kind}-files-delete`);
    await question.getByRole('button', { name: 'Delete' }).click();
    await question.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByRole('link', { name: 'deep', exact: true }).count()).toBe(0);
    await expect(files.stat('/work/deep')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(files.stat('/work/data.bin')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await opened.expectNoFault();
  });
}

function testKeyboard(place: () => FilesPlace): void {
  it('can be used without a mouse', async () => {
    const { browser, platform, files } = place();
    await files.write('/keys/first.txt', 'one\n');
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/'));
    await page.getByRole('link', { name: 'keys', exact: true }).focus();
    await page.keyboard.press('Enter');
    const actions = page.getByRole('button', { name: 'Actions for first.txt' });
    await actions.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename or move…' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('New name or path').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.value')).toBe('first.txt');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New folder' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    await page.keyboard.type('second');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'second' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select second' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('1 selected').waitFor();
    expect(await files.stat('/keys/second')).toMatchObject({ is_dir: true });
    await opened.expectNoFault();
  });
}

function testTransfers(kind: string, place: () => FilesPlace): void {
  it('uploads files with progress and downloads them byte for byte', async () => {
    const { browser, platform } = place();
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'survey.bin');
    const bytes = randomBytes(12 * MiB);
    await writeFile(file, bytes);
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/work'));
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByRole('region', { name: 'Uploads' }).getByText('1 file uploaded').waitFor();
    await page.getByRole('link', { name: 'survey.bin' }).waitFor();
    await page.getByRole('button', { name: 'Actions for survey.bin' }).click();
    await screenshot(page, `light-${kind}-files-menu`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download survey.bin' }).click(),
    ]);
    expect((await readFile(await download.path())).equals(bytes)).toBe(true);
    await opened.expectNoFault();
  });

  it('uploads dropped files into the current folder, and downloads a folder as an archive', async () => {
    const { browser, platform, files } = place();
    await files.mkdir('/drops');
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/drops'));
    await dropFile(page.getByText('This folder is empty'), 'dropped.txt', 'from the desktop');
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    expect(await files.readText('/drops/dropped.txt')).toBe('from the desktop');
    const whole = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download folder' }).click();
    expect(await unpackedText(await whole)).toBe('from the desktop');
    await page.getByRole('link', { name: 'Root folder' }).click();
    await page.getByRole('button', { name: 'Actions for drops' }).click();
    const one = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download drops' }).click();
    expect(await unpackedText(await one)).toBe('from the desktop');
    await opened.expectNoFault();
  });
}

/** Returns the text of all files of a downloaded archive. */
async function unpackedText(download: Download): Promise<string> {
  const { stdout } = await promisify(execFile)('tar', ['-xOf', await download.path()]);
  return stdout;
}

function testEditor(kind: string, place: () => FilesPlace): void {
  it('edits text with syntax highlighting, and asks before it overwrites another writer’s change', async () => {
    const { browser, platform, files } = place();
    await using opened = await openConsole(browser, platform, { expectedStatuses: [412] });
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/work/app'));
    await page.getByRole('link', { name: 'main.py' }).click();
    const editor = page.getByRole('textbox', { name: 'Content of main.py' });
    await editor.getByText('def greet(name):').waitFor();
    await screenshot(page, `light-${kind}-editor`);
    await expectAccessible(page, 'the editor');
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# mine');
    await page.getByText('unsaved').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('main.py saved').waitFor();
    expect(await files.readText('/work/app/main.py')).toMatch(/# mine$/);

    await files.write('/work/app/main.py', 'of another\n');
    await page.keyboard.type(' again');
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('alertdialog', { name: 'main.py has changed' });
    await question.waitFor();
    await screenshot(page, `light-${kind}-editor-conflict`);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await files.readText('/work/app/main.py')).toBe('of another\n');
    await page.getByRole('button', { name: 'Close file' }).click();
    await page
      .getByRole('alertdialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await page.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Overwrite' }).click();
    await page.getByText('main.py saved').first().waitFor();
    await expect.poll(() => files.readText('/work/app/main.py')).toMatch(/# mine again$/);
    await opened.expectNoFault();
  });

  it('creates a file and opens it', async () => {
    const { browser, platform, files } = place();
    await using opened = await openConsole(browser, platform, { colorScheme: 'dark' });
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/work'));
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('run.sh');
    await page.getByRole('button', { name: 'Create file' }).click();
    const editor = page.getByRole('textbox', { name: 'Content of run.sh' });
    await editor.waitFor();
    await page.keyboard.type('#!/bin/sh\nfor each in "$@"; do echo "$each"; done # says all');
    await screenshot(page, `dark-${kind}-editor`);
    await page.keyboard.press('Control+s');
    await page.getByText('run.sh saved').waitFor();
    expect(await files.readText('/work/run.sh')).toMatch(/^#!\/bin\/sh\nfor each/);
    await opened.expectNoFault();
  });
}

function testKinds(kind: string, place: () => FilesPlace): void {
  it('displays a picture, and says that other bytes are not text', async () => {
    const { browser, platform, files } = place();
    await files.write('/work/other.bin', new Uint8Array([0, 1, 2, 255]));
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, filesPath(place(), '/work', '/work/picture.png'));
    const picture = page.getByRole('img', { name: 'Preview of picture.png' });
    await expect.poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth)).toBe(2);
    await page.goto(filesPath(place(), '/work', '/work/other.bin'));
    await page.getByText('Preview not available').waitFor();
    await screenshot(page, `light-${kind}-file-bytes`);
    await opened.expectNoFault();
  });
}
