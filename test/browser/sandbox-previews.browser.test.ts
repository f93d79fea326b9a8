import { readFileSync } from 'node:fs';
import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

/**
 * A page with a WebSocket (one greeting frame, RFC 6455) and an EventSource, which reports what it can read of its
 * origin.
 */
const PROGRAM = `
const { createServer } = require('node:http');
const { createHash } = require('node:crypto');
const page = '<!doctype html><title>app</title><p id=socket></p><p id=events></p><p id=storage></p><script>' +
  'const show = (id, text) => { document.getElementById(id).textContent = text; };' +
  'const here = new URL("socket", location.href); here.protocol = here.protocol.replace("http", "ws");' +
  'new WebSocket(here).onmessage = ({ data }) => show("socket", data);' +
  'new EventSource("events").onmessage = ({ data }) => show("events", data);' +
  'try { localStorage.setItem("own", "1"); show("storage", Object.keys(localStorage).join()); }' +
  'catch (error) { show("storage", error.name); }</script>';
createServer((request, response) => {
  if (!request.url.endsWith('events')) return response.setHeader('content-type', 'text/html').end(page);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: an event\\n\\n');
}).on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' +
    'Sec-WebSocket-Accept: ' + createHash('sha1').update(key).digest('base64') + '\\r\\n\\r\\n');
  const text = 'a frame of ' + process.argv[2];
  socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  socket.on('error', () => undefined);
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
`;

describeRequiring(SANDBOX_REQUIREMENTS, 'port previews in a browser', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    sandbox = await platform.svc.sandboxes.create({ image: 'debian', name: 'web', network: 'none' });
    await sandbox.waitFor('running');
    await sandbox.files.write('/srv/node', readFileSync(process.execPath), { mode: '755' });
    await sandbox.files.write('/srv/app.js', PROGRAM);
    for (const port of [3000, 3001]) {
      const script = `cd /srv && (setsid ./node app.js ${port} > ${port}.log 2>&1 &); until grep -q ready ${port}.log; do sleep 0.1; done`;
      expect((await sandbox.run(script)).exitCode).toBe(0);
    }
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  const text = (page: Page, id: string) => expect.poll(() => page.locator(`#${id}`).textContent());

  it('show a page with its WebSocket and its events, and remove the signature from the address', async () => {
    const { url } = await sandbox.previewPort(3000);
    await using context = await browser.newContext();
    const page = await context.newPage();
    expect((await page.goto(url))?.status()).toBe(200);
    expect(page.url()).toBe(`${new URL(url).origin}/`);
    await text(page, 'socket').toBe('a frame of 3000');
    await text(page, 'events').toBe('an event');
    await text(page, 'storage').toBe('own');
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('have separate origins, and none opens the socket of another', async () => {
    const [first, second] = [await sandbox.previewPort(3000), await sandbox.previewPort(3001)];
    await using context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(second.url);
    await page.goto(first.url);
    const other = new URL(second.url).host;
    const outcome = await page.evaluate(async (host) => {
      const socket = new Promise((resolve) => {
        const opened = new WebSocket(`ws://${host}/socket`);
        opened.addEventListener('open', () => resolve('open'));
        opened.addEventListener('error', () => resolve('refused'));
      });
      const read = fetch(`http://${host}/`, { credentials: 'include' }).then(
        () => 'read',
        () => 'refused',
      );
      return [await socket, await read, Object.keys(localStorage).join()];
    }, other);
    expect(outcome).toEqual(['refused', 'refused', 'own']);
  });

  it('need no link once the console has opened every port, until it closes them', async () => {
    await using visitor = await browser.newContext();
    const guest = await visitor.newPage();
    const visit = async (url: string) => (await guest.goto(url))?.status();
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}/ports`);
    const section = page.locator('section').filter({ hasText: 'Public ports' });
    const isOpen = section.getByRole('switch', { name: 'Open every port' });
    await section.locator('code').waitFor({ state: 'detached' });
    await isOpen.click();
    const shown = await section.locator('code').innerText();
    expect(shown).toContain('//{port}-');
    const url = shown.replace('{port}', '3000');
    expect(await visit(url)).toBe(200);
    await page.reload();
    expect(await section.locator('code').innerText()).toBe(shown);
    await screenshot(page, 'light-sandbox-public-ports');
    await expectAccessible(page, 'the ports of a sandbox, all public');
    await isOpen.click();
    await section.locator('code').waitFor({ state: 'detached' });
    expect(await visit(url)).toBe(401);
    await opened.expectNoFault();
  });

  it('give a page on the console’s host an opaque origin', async () => {
    const { path_url: url = '' } = (await sandbox.previewPort(3000)) as { path_url?: string };
    await using opened = await openConsole(browser, platform);
    await signIn(opened.page, platform, '/');
    await opened.page.evaluate(() => localStorage.setItem('of-the-console', '1'));
    const page = await opened.page.context().newPage();
    await page.goto(url);
    await text(page, 'socket').toBe('a frame of 3000');
    await text(page, 'events').toBe('an event');
    await text(page, 'storage').toBe('SecurityError');
    const read = await page.evaluate(
      (api) =>
        fetch(api, { credentials: 'include' }).then(
          (answer) => answer.status,
          () => 'refused',
        ),
      `${platform.url}/api/auth/me`,
    );
    expect(read).toBe('refused');
    await page.close();
  });
});
