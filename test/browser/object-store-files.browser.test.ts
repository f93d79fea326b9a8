import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectsClient } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { screenshot } from './support/screenshots.ts';

const BUCKET = 'files';
const MiB = 1024 * 1024;
/** 2×2 pixels in one color. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGNQCbsGRAwQCgAiBgVBnPGIHgAAAABJRU5ErkJggg==',
  'base64',
);

describeRequiring(['chromium'], 'uploads and downloads in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let objects: ObjectsClient;
  let folder: TemporaryFolder;

  beforeAll(async () => {
    [browser, platform, folder] = await Promise.all([launchBrowser(), startPlatform(), temporaryFolder()]);
    const store = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid });
    await store.buckets.create({ name: BUCKET });
    objects = store.objects(BUCKET);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
    await folder.remove();
  });
  const bucketPath = (object = '') =>
    `/w/${platform.workspaceUuid}/buckets/${BUCKET}${object === '' ? '' : `?object=${encodeURIComponent(object)}`}`;

  it('resumes an interrupted upload after a reload, and sends no part twice', async () => {
    const file = join(folder.path, 'survey.bin');
    const bytes = randomBytes(40 * MiB);
    await writeFile(file, bytes);
    await using opened = await openConsole(browser, platform, { expectedStatuses: [503] });
    const { page } = opened;
    await signIn(page, platform, bucketPath());
    const sent = partsSent(page);
    const laterParts = /\/parts\/[23]\b/;
    await page.route(laterParts, (route) => route.fulfill({ status: 503, body: '' }));
    await page.getByLabel('Files to upload').setInputFiles(file);
    const tray = page.getByRole('region', { name: 'Uploads' });
    await tray.getByRole('button', { name: 'Resume survey.bin' }).waitFor({ timeout: 60_000 });
    expect(sent).toContain(1);
    await screenshot(page, 'light-upload-cut');
    await expectAccessible(page, 'an upload that was cut');

    await page.unroute(laterParts);
    await page.reload();
    sent.length = 0;
    await page.getByLabel('Files to upload').setInputFiles(file);
    await page.getByRole('table').getByRole('button', { name: 'survey.bin', exact: true }).waitFor();
    expect(sent.toSorted((one, other) => one - other)).toEqual([2, 3]);
    const stored = await new Response((await objects.download('survey.bin')).body).arrayBuffer();
    expect(Buffer.from(stored).equals(bytes)).toBe(true);
    await opened.expectNoFault();
  });

  it('pauses and resumes an upload', async () => {
    const file = join(folder.path, 'paused.bin');
    await writeFile(file, randomBytes(40 * MiB));
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, bucketPath());
    const held = Promise.withResolvers<void>();
    const third = /\/parts\/3\b/;
    // Only after the pause; otherwise the upload may have completed.
    await page.route(third, (route) => held.promise.then(() => route.continue().catch(() => undefined)));
    await page.getByLabel('Files to upload').setInputFiles(file);
    const tray = page.getByRole('region', { name: 'Uploads' });
    await tray.getByRole('button', { name: 'Pause paused.bin' }).waitFor();
    const warning = page.waitForEvent('dialog');
    await page.getByRole('heading', { level: 1 }).click(); // browsers only ask on pages with user interaction
    const leaving = page.close({ runBeforeUnload: true });
    expect((await warning).type()).toBe('beforeunload');
    await (await warning).dismiss();
    await leaving;
    await tray.getByRole('button', { name: 'Pause paused.bin' }).click();
    await tray.getByText(/^Paused at/).waitFor();
    await screenshot(page, 'light-upload-paused');
    held.resolve();
    await page.unroute(third);
    await tray.getByRole('button', { name: 'Resume paused.bin' }).click();
    await page.getByRole('table').getByRole('button', { name: 'paused.bin', exact: true }).waitFor();
    const { objects: found } = await objects.page({ prefix: 'paused.bin' });
    expect(found.map(({ size }) => size)).toEqual([40 * MiB]);
    await opened.expectNoFault();
  });

  it('displays pictures, sound and text, and runs none of their scripts', async () => {
    const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.wasRun = true</script></svg>';
    const page404 = '<!doctype html><script>globalThis.wasRun = true</script><p>a page</p>';
    for (const [key, contentType, content] of [
      ['picture.png', 'image/png', PNG],
      ['no-picture.png', 'image/png', Buffer.from('these are words')],
      ['tone.wav', 'audio/wav', wave()],
      ['drawing.svg', 'image/svg+xml', Buffer.from(script)],
      ['page.html', 'text/html', Buffer.from(page404)],
    ] as const) {
      await objects.upload(key, new Blob([content]), { contentType });
    }
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, bucketPath('picture.png'));
    const picture = page.getByRole('img', { name: 'Preview of picture.png' });
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image) => 'naturalWidth' in image && image.naturalWidth)).toBe(2);
    await screenshot(page, 'light-preview-picture');
    await page.goto(bucketPath('no-picture.png'));
    await page.getByText('Preview not available. The file may not match its content type.').waitFor();
    await page.goto(bucketPath('tone.wav'));
    const sound = page.getByLabel('Preview of tone.wav');
    await expect.poll(() => sound.evaluate((audio) => 'duration' in audio && audio.duration)).toBe(1);
    await screenshot(page, 'light-preview-sound');
    await expectAccessible(page, 'the preview of a sound');
    for (const [key, words] of [
      ['drawing.svg', script],
      ['page.html', page404],
    ] as const) {
      await page.goto(bucketPath(key));
      await page
        .getByRole('region', { name: `Preview of ${key}` })
        .getByText(words)
        .waitFor();
    }
    expect(await page.evaluate('globalThis.wasRun')).toBeUndefined();
    await opened.expectNoFault();
  });
});

/** Numbers of the parts that the page started to send. */
function partsSent(page: Page): number[] {
  const sent: number[] = [];
  page.on('request', (request) => {
    const part = /\/parts\/(\d+)/.exec(request.url())?.[1];
    if (part !== undefined && request.method() === 'PUT') sent.push(Number(part));
  });
  return sent;
}

/** One second of silence: eight thousand 8-bit samples. */
function wave(): Buffer {
  const samples = Buffer.alloc(8_000, 128);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
