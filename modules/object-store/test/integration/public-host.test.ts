import { createHeldRights } from '@svc/access';
import { createListener, UpgradeRouter, type Listener } from '@svc/http';
import { createLogger } from '@svc/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type RunningManagement } from '../support/running-management.ts';

const DOMAIN = 'objects.example.net';
const ISOLATED = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};

describe('public object hosts', () => {
  let management: RunningManagement;
  let listener: Listener;
  let endpoint: string;
  beforeAll(async () => {
    management = await startManagement({ public_objects: { domain: DOMAIN } });
    const { module } = management.store;
    const log = createLogger({ level: 'silent', name: 'test' });
    const upgrades = new UpgradeRouter(log, createHeldRights(log));
    module.registerUpgrades(upgrades);
    const handler: Parameters<typeof createListener>[0]['handler'] = (request, response) => {
      if (!module.handleHost(request, response)) response.writeHead(418).end();
    };
    listener = createListener({ handler, onUpgrade: upgrades.dispatch });
    endpoint = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
    await put('a b/ü.txt', 'text/plain', '&public=true');
    await put('page', 'text/html', '&public=true');
    await put('program', 'text/javascript', '&public=true');
    await put('closed', 'text/plain');
  });
  afterAll(async () => {
    await listener.close(0);
    await management.close();
  });

  const put = (key: string, type: string, query = '') =>
    management.call('PUT', `/buckets/photos/objects/content?key=${encodeURIComponent(key)}${query}`, {
      body: '0123456789',
      headers: { 'content-type': type },
    });
  const send = (host: string, raw: RawRequest): Promise<RawAnswer> =>
    sendRaw(endpoint, { ...raw, headers: { host, ...raw.headers } });

  it('serve public objects with ranges, conditions and the headers of every object', async () => {
    const host = `photos.${DOMAIN}`;
    const shown = await send(host, { target: '/a%20b/%C3%BC.txt' });
    expect(shown).toMatchObject({
      status: 200,
      headers: { ...ISOLATED, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, no-cache' },
    });
    expect(shown.headers['content-disposition']).toMatch(/^inline;/);
    expect(shown.body.toString()).toBe('0123456789');
    const part = await send(host, { target: '/page', headers: { range: 'bytes=2-3' } });
    expect(part).toMatchObject({ status: 206, headers: { ...ISOLATED, 'content-type': 'text/html' } });
    expect(part.headers['content-disposition']).toMatch(/^attachment;/);
    expect(part.body.toString()).toBe('23');
    const known = { target: '/page', headers: { 'if-none-match': String(part.headers.etag) } };
    expect(await send(host, known)).toMatchObject({ status: 304, headers: ISOLATED });
    expect(await send(host, { method: 'HEAD', target: '/page' })).toMatchObject({ status: 200, headers: ISOLATED });
    expect(await send(host, { target: '/program' })).toMatchObject({ headers: { 'content-type': 'text/javascript' } });
  });

  it('reveal nothing else, and serve no other part of the platform', async () => {
    const absent = [
      send(`photos.${DOMAIN}`, { target: '/closed' }),
      send(`photos.${DOMAIN}`, { target: '/absent' }),
      send(`photos.${DOMAIN}`, { target: '/' }),
      send(`photos.${DOMAIN}`, { target: '/api/auth/me' }),
      send(`unknown.${DOMAIN}`, { target: '/page' }),
      send(`a.photos.${DOMAIN}`, { target: '/page' }),
      send(DOMAIN, { target: '/photos/page' }),
    ];
    for (const answer of await Promise.all(absent)) {
      expect(answer).toMatchObject({ status: 404, headers: { ...ISOLATED, 'cache-control': 'no-store' } });
      expect(JSON.parse(answer.body.toString())).toMatchObject({ success: false, data: { code: 'NoSuchKey' } });
    }
    const host = `photos.${DOMAIN}`;
    expect(await send(host, { method: 'POST', target: '/page' })).toMatchObject({ status: 405, headers: ISOLATED });
    expect(await send(host, { target: '/%ff' })).toMatchObject({ status: 400, headers: ISOLATED });
    const range = { target: '/page', headers: { range: 'bytes=20-' } };
    expect(await send(host, range)).toMatchObject({ status: 416, headers: ISOLATED });
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
    expect(await send(host, { target: '/ws/terminal/x', headers: upgrade })).toMatchObject({ status: 405 });
    expect(await send('elsewhere.example.net', { target: '/page' })).toMatchObject({ status: 418 });
  });

  it('are where the contract path redirects every client once an object is known to be public', async () => {
    const read = (key: string, method: 'GET' | 'HEAD' = 'GET') => {
      const url = `/api/v1/public/object-store/t/${management.tenantId}/objects/${key}?bucket=photos`;
      return management.app.inject({ method, url, headers: { host: 'console.example.com' } });
    };
    const to = `http://photos.${DOMAIN}/a%20b/%C3%BC.txt`;
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await read('a%20b/%C3%BC.txt', method);
      expect(answer).toMatchObject({ statusCode: 307, headers: { location: to, 'cache-control': 'no-store' } });
      expect(answer.body).toBe('');
    }
    expect((await read('closed')).statusCode).toBe(404);
    const urls = await management.call('GET', '/urls?bucket=photos', { headers: { host: 'console.example.com' } });
    expect(urls.body.data).toMatchObject({ public_objects: `http://photos.${DOMAIN}/{key}` });
    const stored = await put('new', 'text/plain');
    expect(String(stored.body.data['url'])).toMatch(
      new RegExp(`//photos\\.${DOMAIN.replaceAll('.', '\\.')}(:\\d+)?/new$`),
    );
  });
});
