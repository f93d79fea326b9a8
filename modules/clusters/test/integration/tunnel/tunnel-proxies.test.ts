import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlayedKubernetes } from '../../support/played-kubernetes.ts';
import { startRig, type Rig } from '../../support/rig.ts';

const FORWARDED = { 'x-forwarded-for': '192.0.2.66, 203.0.113.9', 'x-forwarded-proto': 'https' };

describe.each([
  { trustedProxies: ['127.0.0.1'], client: '203.0.113.9', cookie: /^__Host-svc_tunnel=/ },
  { trustedProxies: [], client: '127.0.0.1', cookie: /^svc_tunnel=/ },
])('a tunnel with trusted proxies $trustedProxies', ({ trustedProxies, client, cookie }) => {
  let rig: Rig;
  let played: PlayedKubernetes;

  beforeAll(async () => {
    const config = { connects_per_minute: 1000 };
    rig = await startRig({ config, publicUrl: 'http://127.0.0.1:4000', trustedProxies });
    played = await PlayedKubernetes.connect(rig, await rig.addCluster(), { answer: () => ({ body: {} }) });
  });
  afterAll(async () => {
    await played.close();
    await rig.close();
  });

  const send = async (method: string, path: string, headers: Record<string, string>): Promise<IncomingMessage> => {
    const options = { host: '127.0.0.1', port: rig.port, method, path, agent: false };
    const outgoing = httpRequest({ ...options, headers: { ...FORWARDED, ...headers } });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
    response.resume();
    return response;
  };

  it('uses the client address and scheme that those proxies report', async () => {
    const made = await rig.call('POST', '/v1/clusters/production/tunnel-links', { body: { service: 'web' } });
    const link = new URL(String(made.body['url']));
    const entered = await send('GET', `${link.pathname}${link.search}`, { host: link.host });
    expect(entered.headers['set-cookie']?.[0]).toMatch(cookie);
    const changed = await send('POST', '/v1/clusters/production/tunnel/web/x', rig.owner.headers);
    expect(changed.statusCode).toBe(200);
    expect(rig.audit.entries.at(-1)).toMatchObject({ action: 'tunnel:use', remoteAddress: client });
  });
});
