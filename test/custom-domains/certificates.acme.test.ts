import { S3Client, PutObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3';
import { describeRequiring, freePort, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getOverTls } from '../acme/client.ts';
import { startAcme, type Acme } from '../acme/start.ts';
import { startDomainBench, type DomainBench } from './domain-bench.ts';
import { startNameServer, type NameServer } from './name-server.ts';
import { getFrom, type SiteAnswer, type SiteRequest } from './site-client.ts';

const HOST = 'files.customer.test';
const HOUR_MS = 3_600_000;

describeRequiring(['linux', 'command:dnsmasq', 'command:pebble'], 'a custom domain with a certificate', () => {
  let names: NameServer;
  let acme: Acme;
  let bench: DomainBench;
  let target: string;
  /** Root certificate of the issued ones. */
  let root: string;

  beforeEach(async () => {
    names = await startNameServer();
    await names.serve({});
    const httpPort = await freePort();
    acme = await startAcme({ validationPort: httpPort, nameServer: names.address });
    root = (await getOverTls(acme.rootUrl, acme.ca)).body;
    const authority = { directoryUrl: acme.directoryUrl, ca: acme.ca };
    bench = await startDomainBench({ nameServer: names.address, httpPort, authority });
    await bench.call('POST', '/buckets', { name: 'photos' });
    await bench.call('PUT', '/buckets/photos/settings', { publicDefault: true });
    await upload('index.html', '<h1>hello</h1>');
    target = String((await register(HOST)).data['cname_target']);
  });
  afterEach(async () => {
    await bench.close();
    await acme.stop();
    await names.stop();
  });

  const register = (hostname: string) => bench.call('POST', '/domains', { hostname, bucket: 'photos' });
  const serveNames = (...hosts: string[]) =>
    names.serve({
      cnames: Object.fromEntries(hosts.map((host) => [host, target])),
      addresses: { [target]: '127.0.0.1' },
    });
  const shown = async (hostname = HOST): Promise<Record<string, unknown> | undefined> => {
    // checked by the matchers
    const domains = (await bench.call('GET', '/domains')).data['domains'] as Record<string, unknown>[];
    return domains.find((domain) => domain['hostname'] === hostname);
  };
  const after = async (waitMs: number): Promise<Record<string, unknown> | undefined> => {
    await bench.clock.advance(waitMs);
    await bench.work();
    return await shown();
  };
  const secure = (path: string, extra: Partial<SiteRequest> = {}): Promise<SiteAnswer> =>
    getFrom({ port: bench.ports.https, host: HOST, path, tls: { ca: root }, ...extra });
  const plain = (path: string, extra: Partial<SiteRequest> = {}): Promise<SiteAnswer> =>
    getFrom({ port: bench.ports.http, host: HOST, path, tls: null, ...extra });

  async function s3Client(endpoint: string): Promise<S3Client> {
    const { data } = await bench.call('POST', '/keys', {});
    const credentials = {
      accessKeyId: String(data['accessKeyId']),
      secretAccessKey: String(data['secretAccessKey']),
    };
    return new S3Client({ endpoint, credentials, region: 'auto', forcePathStyle: true });
  }
  async function upload(key: string, body: string): Promise<void> {
    const client = await s3Client(`http://127.0.0.1:${bench.ports.s3}`);
    const upload = { Bucket: 'photos', Key: key, Body: body, ContentType: 'text/html', CacheControl: 'max-age=60' };
    await client.send(new PutObjectCommand(upload));
    client.destroy();
  }

  it('goes from registration to HTTPS with the right certificate, and stops as soon as it is removed', async () => {
    expect(await after(0)).toMatchObject({ status: 'pending', ssl: { status: 'initializing' } });
    await expect(secure('/index.html')).rejects.toThrow();
    await serveNames(HOST);
    await bench.clock.advance(15_000);
    expect((await bench.call('GET', `/domains/${HOST}/status`)).data).toMatchObject({
      status: 'verifying',
      ssl: { status: 'pending' },
    });
    const active = await after(0);
    expect(active).toMatchObject({ status: 'active', error: null, ssl: { status: 'active' } });
    expect(active?.['ssl']).toMatchObject({ issuer: expect.stringContaining('Pebble') });

    const page = await secure('/index.html');
    expect(page).toMatchObject({ status: 200, body: '<h1>hello</h1>' });
    expect(page.headers).toMatchObject({ 'content-type': 'text/html', 'cache-control': 'max-age=60' });
    const etag = String(page.headers.etag);
    expect(await secure('/index.html', { headers: { 'if-none-match': etag } })).toMatchObject({ status: 304 });
    expect(await secure('/index.html', { headers: { range: 'bytes=0-3' } })).toMatchObject({
      status: 206,
      body: '<h1>',
    });
    expect(await secure('/index.html', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    // as on S3: callers without list permission learn nothing
    expect(await secure('/absent')).toMatchObject({ status: 403 });
    expect(await plain('/index.html?a=b')).toMatchObject({
      status: 308,
      headers: { location: `https://${HOST}/index.html?a=b` },
    });

    await bench.call('DELETE', `/domains/${HOST}`);
    await expect(secure('/index.html')).rejects.toThrow();
    expect(await plain('/index.html')).toMatchObject({ status: 421, body: '' });
  });

  it('serves signed requests to the bucket of the host', async () => {
    await serveNames(HOST);
    await after(0);
    const { data } = await bench.call('POST', '/keys', { permissions: ['read'] });
    const credentials = { accessKeyId: String(data['accessKeyId']), secretAccessKey: String(data['secretAccessKey']) };
    // The endpoint is the bucket's own domain, so that its host is signed; the connection goes to the listener.
    const client = new S3Client({
      endpoint: `https://${HOST}:${bench.ports.https}`,
      bucketEndpoint: true,
      credentials,
      region: 'auto',
      systemClockOffset: bench.clock.nowMs() - Date.now(),
      requestHandler: {
        httpsAgent: { ca: root, lookup: (_name: string, _options: object, done: LookupDone) => done(null, LOOPBACK) },
      },
    });
    const Bucket = `https://${HOST}:${bench.ports.https}`;
    const found = await client.send(new GetObjectCommand({ Bucket, Key: 'index.html' }));
    expect(await found.Body?.transformToString()).toBe('<h1>hello</h1>');
    client.destroy();
  });

  it('presents each host’s own certificate, and none for an unknown name', async () => {
    const second = 'second.customer.test';
    await register(second);
    await serveNames(HOST, second);
    await after(0);
    expect(await shown(second)).toMatchObject({ status: 'active' });
    const one = await secure('/index.html');
    const other = await secure('/index.html', { host: second });
    expect(other.status).toBe(200);
    expect(other.serialNumber).not.toBe(one.serialNumber);
    const unknown = 'unknown.customer.test';
    await expect(secure('/index.html', { host: unknown })).rejects.toThrow();
    // A connection for one host with a request for another.
    const misdirected = secure('/index.html', { host: unknown, tls: { ca: root, servername: HOST } });
    expect(await misdirected).toMatchObject({ status: 421, body: '' });
  });

  it('renews after two thirds of the certificate’s lifetime, before it expires', async () => {
    await serveNames(HOST);
    await after(0);
    const before = await secure('/index.html');
    const expiresAtMs = Date.parse(String((await certificateOf())['expires_at']));
    const lifeMs = expiresAtMs - bench.clock.nowMs();
    await after((lifeMs * 2) / 3 - HOUR_MS * 24);
    expect((await secure('/index.html')).serialNumber).toBe(before.serialNumber);
    expect(await after(HOUR_MS * 48)).toMatchObject({ status: 'active', ssl: { status: 'active' }, error: null });
    await bench.clock.advance(5_000);
    const renewed = await secure('/index.html');
    expect(renewed.status).toBe(200);
    expect(renewed.serialNumber).not.toBe(before.serialNumber);
  });

  it('keeps its certificate while the CNAME is lost, and needs no new one when it recovers', async () => {
    await serveNames(HOST);
    await after(0);
    const before = await secure('/index.html');
    await names.serve({});
    expect(await after(HOUR_MS)).toMatchObject({ status: 'error', error: { code: 'cname_lost' } });
    expect((await secure('/index.html')).status).toBe(200);
    await bench.clock.advance(73 * HOUR_MS);
    await expect(secure('/index.html')).rejects.toThrow();
    await serveNames(HOST);
    expect(await after(HOUR_MS)).toMatchObject({ status: 'active', error: null });
    expect((await secure('/index.html')).serialNumber).toBe(before.serialNumber);
  });

  it('explains a missing certificate, retries later, and recovers', async () => {
    // The CNAME is correct, but the name has no reachable address, so the authority cannot reach the challenge.
    const nowhere = { cnames: { [HOST]: target }, addresses: { [target]: '127.0.0.99' } };
    await names.serve(nowhere);
    expect(await after(0)).toMatchObject({
      status: 'error',
      dns: { status: 'ok' },
      ssl: { status: 'error' },
      error: { code: 'challenge_unreachable' },
    });
    await serveNames(HOST);
    expect(await after(59_000)).toMatchObject({ status: 'error' }); // not yet: the next order is delayed
    expect(await after(1_000)).toMatchObject({ status: 'active', error: null });
    expect((await secure('/index.html')).status).toBe(200);
  });

  it('keeps serving while the authority is unavailable', async () => {
    await serveNames(HOST);
    await after(0);
    await acme.stop();
    const lifeMs = Date.parse(String((await certificateOf())['expires_at'])) - bench.clock.nowMs();
    expect(await after(lifeMs * 0.9)).toMatchObject({
      status: 'active',
      ssl: { status: 'active' },
      error: { code: 'authority_unreachable' },
    });
    expect((await secure('/index.html')).status).toBe(200);
  });

  it('keeps the account key and the certificate key sealed', async () => {
    await serveNames(HOST);
    await after(0);
    const account = await waitFor(() => bench.metadata.findAcmeAccount({ directoryUrl: acme.directoryUrl }));
    const certificate = await waitFor(() =>
      bench.metadata.findCertificate({ hostname: HOST, nowMs: bench.clock.nowMs() }),
    );
    for (const { sealedKey } of [account, certificate]) {
      expect(sealedKey).toMatch(/^v2:/);
      expect(sealedKey).not.toContain('PRIVATE KEY');
    }
    expect(await plain('/.well-known/acme-challenge/unknown')).toMatchObject({ status: 404, body: '' });
  });

  async function certificateOf(): Promise<Record<string, unknown>> {
    return ((await shown())?.['ssl'] ?? {}) as Record<string, unknown>; // one member is read
  }
});

type LookupDone = (error: Error | null, addresses: readonly { address: string; family: number }[]) => void;
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
