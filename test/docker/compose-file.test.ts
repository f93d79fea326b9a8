import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { loadPlatformConfig, type PlatformConfig } from '@svc/platform';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROJECT_ROOT } from '../system/running-platform.ts';

interface ComposeService {
  image: string;
  profiles?: readonly string[];
  environment: Readonly<Record<string, string | null>>;
  depends_on?: Readonly<Record<string, unknown>> | readonly string[];
  networks?: Readonly<Record<string, { readonly ipv4_address?: string }>>;
}

interface ComposeFile {
  readonly services: Record<string, ComposeService>;
  /** `ip_range` is the part of the subnet that Docker gives addresses from. */
  readonly networks: {
    readonly internal: { readonly ipam: { readonly config: readonly { subnet: string; ip_range: string }[] } };
  };
}

/** As the page about installation says. */
const SECRETS: Readonly<Record<string, string>> = {
  SVC_MASTER_KEY: 'ab'.repeat(32),
  SVC_DATABASE_PASSWORD: 'database',
  SVC_ENGINE_SECRET: 'engine',
  SVC_OWNER_PASSWORD: 'owner-password',
};

async function composeFile(variables: Readonly<Record<string, string>>): Promise<ComposeFile> {
  const text = await readFile(join(PROJECT_ROOT, 'deploy/compose.yaml'), 'utf8');
  const filled = text.replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, otherwise: string) => variables[name] ?? otherwise,
  );
  return parse(filled, { merge: true }) as ComposeFile;
}

async function composeServices(variables: Readonly<Record<string, string>>): Promise<ComposeFile['services']> {
  return (await composeFile(variables)).services;
}

/** Reads the environment of a service as the platform would; a variable without a value is passed on, and unset here. */
function configOf(service: ComposeService | undefined): PlatformConfig {
  const set = Object.entries(service?.environment ?? {}).filter(([, value]) => value !== null);
  const environment = Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
  return loadPlatformConfig({ environment: { SVC_HOST: '0.0.0.0', ...environment }, flags: [] }).value;
}

describe('the Compose file', () => {
  it('starts one container without a profile, with a configuration that the platform accepts', async () => {
    const services = await composeServices({});
    expect(Object.keys(services).filter((name) => services[name]?.profiles === undefined)).toEqual(['svc']);
    expect(configOf(services['svc'])).toMatchObject({
      services: ['clusters', 'object-store'],
      object_store: { engine: 'embedded' },
    });
  });

  it('gives both replicas one database, one engine and one master key', async () => {
    const services = await composeServices(SECRETS);
    const [first, second] = [configOf(services['svc-1']), configOf(services['svc-2'])];
    expect(first).toEqual(second);
    expect(first).toMatchObject({
      database: { url: 'postgres://svc:database@database/svc' },
      object_store: { engine: 's3', master_key: SECRETS['SVC_MASTER_KEY'], s3: { secret_access_key: 'engine' } },
    });
  });

  it('believes only the balancer: not its network, whose gateway is the address of clients on this machine', async () => {
    const { balancer, ...services } = await composeServices(SECRETS);
    const { trusted_proxies: trusted } = configOf(services['svc-1']);
    expect(trusted).toEqual([balancer?.networks?.['internal']?.ipv4_address]);
    expect(Object.values(services).flatMap(({ networks }) => networks?.['internal']?.ipv4_address ?? [])).toEqual([]);
    const { networks } = await composeFile(SECRETS);
    const [{ subnet, ip_range: range } = { subnet: '', ip_range: '' }] = networks.internal.ipam.config;
    const given = new BlockList();
    given.addSubnet(range.split('/')[0] ?? '', Number(range.split('/')[1]));
    const all = new BlockList();
    all.addSubnet(subnet.split('/')[0] ?? '', Number(subnet.split('/')[1]));
    expect([all.check(trusted[0] ?? ''), given.check(trusted[0] ?? '')]).toEqual([true, false]);
  });

  it.each(['haproxy.cfg', 'nginx.conf'])('starts the replicas that %s names', async (file) => {
    const configuration = await readFile(join(PROJECT_ROOT, 'deploy', file), 'utf8');
    const servers = [...configuration.matchAll(/^ +server .*?([\w-]+):\d+/gm)].map(([, name]) => name);
    const balancer = (await composeServices(SECRETS))['balancer'];
    expect(new Set(servers)).toEqual(new Set(balancer?.depends_on as readonly string[]));
  });
});
