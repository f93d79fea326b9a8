import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlayedKubernetes } from '../../support/played-kubernetes.ts';
import { startRig, type Rig } from '../../support/rig.ts';

describe('the tunnel cookie over TLS', () => {
  let rig: Rig;
  let played: PlayedKubernetes;
  let link: URL;

  beforeAll(async () => {
    rig = await startRig({ config: { connects_per_minute: 1000 }, publicUrl: 'https://platform.example.com' });
    const cluster = await rig.addCluster();
    played = await PlayedKubernetes.connect(rig, cluster, { answer: () => ({ body: {} }) });
    const made = await rig.call('POST', '/v1/clusters/production/tunnel-links', { body: { service: 'web' } });
    link = new URL(String(made.body['url']));
  });
  afterAll(async () => {
    await played.close();
    await rig.close();
  });

  const get = async (path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port: rig.port,
      path,
      agent: false,
      headers: { host: link.host, ...headers },
    });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
    response.resume();
    return response;
  };

  it('is set by a redirect that stays on the host of the service, whatever the path', async () => {
    const { host, search } = link;
    for (const path of ['/a?b=c', '//elsewhere.example/a?b=c', String.raw`/\elsewhere.example/a?b=c`]) {
      const entered = await get(`${path}${search.replace('?', '&')}`);
      const at = entered.headers.location ?? '';
      expect([path, entered.statusCode, new URL(at, `https://${host}/`).host]).toEqual([path, 303, host]);
      expect(at).toMatch(/a\?b=c$/);
    }
  });

  it('is host-only, and no other cookie opens the service', async () => {
    const entered = await get(`${link.pathname}${link.search}`);
    const token = link.searchParams.get('svc_tunnel') ?? '';
    expect(entered.statusCode).toBe(303);
    expect(entered.headers['set-cookie']?.[0]).toMatch(
      /^__Host-svc_tunnel=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await get('/x', { cookie: `svc_tunnel=${token}` })).statusCode).toBe(401);
    expect((await get('/x', { cookie: `__Secure-svc_tunnel=${token}` })).statusCode).toBe(401);
    expect((await get('/x', { cookie: `__Host-svc_tunnel=${token}` })).statusCode).toBe(200);
  });
});
