import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { launchBrowser } from '../browser/support/browser.ts';
import { startTunnels, type TunnelFixture } from './tunnel-fixture.ts';

const PAGE = `<!doctype html><title>inside</title><ul id="log"></ul><script type="module">
const say = (text) => document.querySelector('#log').append(Object.assign(document.createElement('li'), { textContent: text }));
say('page');
const socket = new WebSocket(new URL('socket', location.href.replace('http', 'ws')));
socket.onopen = () => socket.send('hello');
socket.onmessage = ({ data }) => say('socket ' + data);
const events = new EventSource('events');
events.onmessage = ({ data }) => { say('event ' + data); if (data === '3') events.close(); };
say('cookie ' + document.cookie);
</script>`;

describeRequiring(['chromium'], 'a forwarded web service in a browser', () => {
  let service: Server;
  let fixture: TunnelFixture;
  let browser: Browser;
  beforeAll(async () => {
    const sockets = new WebSocketServer({ noServer: true });
    service = createServer((request, response) => {
      if (request.url !== '/events') {
        response.setHeader('content-type', 'text/html');
        response.end(PAGE);
        return;
      }
      // Send the next one only after the previous one has arrived: a buffering proxy would show none.
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let count = 0;
      const next = (): void => {
        count += 1;
        response.write(`data: ${count}\n\n`, () => {
          if (count < 3) setImmediate(next);
        });
      };
      next();
    });
    service.on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        webSocket.on('message', (data: Buffer) => webSocket.send(`echoes ${data.toString()}`));
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo; // a TCP listener
    fixture = await startTunnels({ forwards: { web: `127.0.0.1:${port}` } });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.[Symbol.asyncDispose]();
    service?.closeAllConnections();
    service?.close();
  });

  it('works by a link, with a WebSocket and an event stream, and the token leaves the address', async () => {
    const { url } = await fixture.api.post<{ url: string }>(`/v1/clusters/${fixture.cluster.id}/tunnel-links`, {
      service: 'web',
    });
    const page = await browser.newPage();
    await page.goto(url);
    const log = page.locator('#log');
    for (const line of ['page', 'socket echoes hello', 'event 1', 'event 3']) {
      await expect.poll(() => log.innerText()).toContain(line);
    }
    expect(page.url()).not.toContain('svc_tunnel');
    expect(await log.innerText()).not.toContain('svc_tunnel'); // scripts cannot read the cookie
  });

  it('is refused without a link', async () => {
    const { port } = new URL(fixture.platform.ready.url);
    const page = await (await browser.newContext()).newPage();
    const answer = await page.goto(`http://${fixture.host}:${port}/web/`);
    expect(answer?.status()).toBe(401);
  });
});
