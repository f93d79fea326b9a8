import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startNameServer, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { createNameResolver } from './name-resolver.ts';

const HOSTS = `
127.0.0.1   localhost
192.0.2.7   Registry.example registry # 192.0.2.8 is registry.example no more
2001:db8::7 registry
fe80::1%lo0 registry
`;
const SETTINGS = 'search one.test two.test.\noptions timeout:1 ndots:2\n';

async function startResolver() {
  const resources = new AsyncDisposableStack();
  const folder = resources.use(await temporaryFolder());
  const [hostsFile, settingsFile] = [join(folder.path, 'hosts'), join(folder.path, 'resolv.conf')];
  await writeFile(hostsFile, HOSTS);
  await writeFile(settingsFile, SETTINGS);
  const server = resources.adopt(
    await startNameServer({
      'both.example.test': ['192.0.2.1', '2001:db8::1', '192.0.2.2'],
      'six.example.test': ['2001:db8::6'],
      'empty.example.test': [],
      'silent.example.test': 'silent',
      'hooks.default.two.test': ['192.0.2.3'],
      'registry.example': ['192.0.2.9'],
    }),
    (each) => each.close(),
  );
  const resolver = createNameResolver({ servers: [server.address], timeoutMs: 200, hostsFile, settingsFile });
  return { resolver, asked: server.asked, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

it('finds the addresses of both kinds, IPv4 first', async () => {
  await using started = await startResolver();
  const { resolver } = started;
  for (const find of [resolver.addresses, resolver.hostAddresses]) {
    expect(await find('both.example.test')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    expect(await find('six.example.test')).toEqual(['2001:db8::6']);
    expect(await find('empty.example.test')).toEqual([]);
    expect(await find('gone.example.test')).toEqual([]);
  }
});

it('knows localhost and the hosts file without a name server, which only full names bypass', async () => {
  await using started = await startResolver();
  const { resolver, asked } = started;
  expect(await resolver.hostAddresses('localhost')).toEqual(['127.0.0.1']);
  expect(await resolver.hostAddresses('any.localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await resolver.hostAddresses('registry')).toEqual(['192.0.2.7', '2001:db8::7']);
  expect(await resolver.hostAddresses('REGISTRY.example.')).toEqual(['192.0.2.7']);
  expect(asked).toEqual([]);
  expect(await resolver.addresses('registry.example')).toEqual(['192.0.2.9']);
});

it('looks for short names in the search domains', async () => {
  await using started = await startResolver();
  const { resolver, asked } = started;
  expect(await resolver.hostAddresses('hooks.default')).toEqual(['192.0.2.3']);
  expect([...new Set(asked)]).toEqual(['hooks.default.one.test', 'hooks.default.two.test']);
  expect(await resolver.hostAddresses('hooks.default.')).toEqual([]);
  expect([...new Set(asked)].at(-1)).toBe('hooks.default');
});

it('fails if the name server does not answer', async () => {
  await using started = await startResolver();
  const { resolver } = started;
  for (const find of [resolver.addresses, resolver.hostAddresses, resolver.cname]) {
    await expect(find('silent.example.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  }
});
