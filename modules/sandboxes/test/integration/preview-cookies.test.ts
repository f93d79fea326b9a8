import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('the preview cookie over TLS', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let link: URL;

  beforeAll(async () => {
    platform = await startPlatform({ driver, publicUrl: 'https://platform.example.com' });
    const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
    const made = await platform.call('POST', `/api/containers/${created.body['id']}/ports`, { body: { port: 8080 } });
    link = new URL(String(made.body['url']));
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const get = async (path: string, headers: Record<string, string>): Promise<IncomingMessage> => {
    const { port } = new URL(platform.url);
    const asked = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      agent: false,
      headers: { host: link.host, ...headers },
    });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]; // node's own event
    answer.resume();
    return answer;
  };

  it('is host-only, and no other cookie opens the preview', async () => {
    const entered = await get(`/${link.search}`, { accept: 'text/html' });
    const token = link.searchParams.get('svc_preview') ?? '';
    expect(entered.statusCode).toBe(302);
    expect(entered.headers['set-cookie']?.[0]).toMatch(
      /^__Host-svc_preview=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await get('/', { cookie: `svc_preview=${token}` })).statusCode).toBe(401);
    expect((await get('/', { cookie: `__Secure-svc_preview=${token}` })).statusCode).toBe(401);
    // Admitted; only the program is missing.
    expect((await get('/', { cookie: `__Host-svc_preview=${token}` })).statusCode).not.toBe(401);
  });
});
