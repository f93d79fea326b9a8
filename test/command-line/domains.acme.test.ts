import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, freePort, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getOverTls } from '../acme/client.ts';
import { startAcme, type Acme } from '../acme/start.ts';
import { startNameServer, type NameServer } from '../custom-domains/name-server.ts';
import { getFrom } from '../custom-domains/site-client.ts';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface ShownDomain {
  hostname: string;
  bucket: string;
  status: string;
  cname_target: string;
}

const HOST = 'files.customer.test';

describeRequiring(['linux', 'command:dnsmasq', 'command:pebble'], 'svc domain', () => {
  let folder: TemporaryFolder;
  let names: NameServer;
  let acme: Acme;
  let store: CommandStore;
  let svc: CommandLine;
  let ports: { http: number; https: number };
  beforeAll(async () => {
    folder = await temporaryFolder('svc-domain-');
    ports = { http: await freePort(), https: await freePort() };
    names = await startNameServer();
    await names.serve({});
    acme = await startAcme({ validationPort: ports.http, nameServer: names.address });
    const authority = join(folder.path, 'authority.pem');
    await writeFile(authority, acme.ca);
    const settings = {
      CNAME_DOMAIN: 'cname.svc.test',
      RESOLVERS: names.address,
      HTTP_PORT: String(ports.http),
      HTTPS_PORT: String(ports.https),
      ACME_DIRECTORY_URL: acme.directoryUrl,
      ACME_CA_FILE: authority,
    };
    store = await startCommandStore({
      environment: Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [`SVC_OBJECT_STORE_CUSTOM_DOMAINS_${name}`, value]),
      ),
    });
    svc = store.svc;
    await svc.answer(['bucket', 'create', 'photos']);
    await svc.answer(['bucket', 'settings', 'set', 'photos', 'publicDefault=true']);
    await svc.answer(['object', 'cp', '-', 'svc://photos/hello'], { input: 'hello from photos' });
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await acme.stop();
    await names.stop();
    await folder.remove();
  });

  it('prints the required DNS record and what is missing until it exists', async () => {
    const said = await svc.answer(['domain', 'add', 'photos', HOST]);
    const [listed] = await svc.json<ShownDomain[]>(['domain', 'ls']);
    expect(listed).toMatchObject({ hostname: HOST, bucket: 'photos', status: 'pending' });
    expect(said).toContain(`${HOST}.  CNAME  ${listed?.cname_target}.`);
    expect(await svc.answer(['domain', 'ls', 'photos'])).toMatch(new RegExp(`^HOSTNAME.*\n${HOST} +photos +pending `));
    expect(await svc.answer(['domain', 'status', HOST])).toContain('DNS: missing');
    const early = await svc.run(['domain', 'status', HOST, '--wait', '--timeout', '1s']);
    expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining('did not become active in time')]);
  });

  it('waits until the record is verified and the certificate issued, and then serves the bucket over TLS', async () => {
    const [domain] = await svc.json<ShownDomain[]>(['domain', 'ls']);
    const target = domain?.cname_target ?? '';
    await names.serve({ cnames: { [HOST]: target }, addresses: { [target]: '127.0.0.1' } });
    expect(await svc.json(['domain', 'status', HOST, '--wait', '--timeout', '3m'])).toMatchObject({
      status: 'active',
      dns: { status: 'ok' },
      ssl: { status: 'active' },
    });
    const root = (await getOverTls(acme.rootUrl, acme.ca)).body;
    const page = await getFrom({ port: ports.https, host: HOST, path: '/hello', tls: { ca: root } });
    expect(page).toMatchObject({ status: 200, body: 'hello from photos' });
  });

  it('removes a hostname, and rejects an invalid or unknown one', async () => {
    await svc.answer(['domain', 'rm', HOST]);
    expect(await svc.json(['domain', 'ls'])).toEqual([]);
    for (const args of [
      ['add', 'photos', 'no hostname'],
      ['add', 'no-such-bucket', HOST],
      ['rm', HOST],
      ['status', HOST],
    ]) {
      const { exitCode, stderr } = await svc.run(['domain', ...args]);
      expect([args, exitCode, stderr.split('\n')]).toEqual([args, 1, [expect.stringMatching(/^svc: /), '']]);
    }
  });
});
