import type { HelperBinaries } from '@svc/helper-binary';
import type { Logger } from '@svc/telemetry';
import type { ImageCatalog } from '../../../domain/images/catalog.ts';
import type { ImageStore } from '../../images/image-store.ts';
import type { DriverStatus } from '../../../domain/driver.ts';
import { DockerImages, type RegistryLogin } from './docker-images.ts';
import { DockerNetworks, type Egress } from './docker-networks.ts';
import { EngineClient, EngineUnreachable } from './engine-client.ts';
import { readEndpoint, type EngineSettings } from './engine-endpoint.ts';
import { readFacts, type EngineFacts } from './engine-facts.ts';
import { installHelper } from './helper-volume.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Owners } from './names.ts';

/** Name of the engine runtime for sandboxes with `isolation: gvisor`. */
export const GVISOR_RUNTIME = 'runsc';

export interface DockerDriverOptions {
  readonly engine: EngineSettings;
  readonly owners: Owners;
  readonly helperBinaries: HelperBinaries;
  readonly catalog: ImageCatalog;
  readonly images: ImageStore;
  readonly logins: readonly RegistryLogin[];
  /** The first two numbers of the IPv4 range (a /16) for sandboxes with egress, such as `100.97`. */
  readonly addressPrefix: string;
  readonly nameservers: readonly string[];
  /** A network managed by the operator, for sandboxes with egress; null for a dedicated network per sandbox. */
  readonly network: string | null;
  readonly log: Logger;
}

/** An engine that supports sandboxes, and what was set up in it. */
export interface Engine {
  readonly client: EngineClient;
  readonly facts: EngineFacts;
  readonly helperVolume: string;
  readonly images: DockerImages;
  readonly networks: DockerNetworks;
  readonly memory: MemoryWatch;
  limitDisk: boolean;
}

/** Throws a readable error if the engine does not respond or cannot run sandboxes. */
export async function openEngine(
  options: DockerDriverOptions,
  signal: AbortSignal,
): Promise<{ readonly engine: Engine; readonly status: DriverStatus }> {
  const { owners, helperBinaries, catalog, images, logins, addressPrefix, nameservers, network, log } = options;
  const client = new EngineClient(await readEndpoint(options.engine));
  try {
    const version = await client.greet(signal);
    const facts = readFacts(await client.json('GET', '/info', { signal }), version);
    const helper = await helperBinaries(facts.architecture, signal);
    const helperVolume = await installHelper(client, helper.file, signal);
    const networks = new DockerNetworks({ client, owner: owners.current, addressPrefix, nameservers, network, log });
    const egress = await networks.open(signal);
    const { file: packer } = await helperBinaries(process.arch, signal);
    const memory = new MemoryWatch(client, owners, log);
    memory.start();
    const engine: Engine = {
      client,
      memory,
      facts,
      helperVolume,
      images: new DockerImages({ client, catalog, images, logins, packer }),
      networks,
      limitDisk: facts.noDiskLimit === null,
    };
    return { engine, status: available(facts, egress, log) };
  } catch (error) {
    client.close();
    throw error;
  }
}

export async function closeEngine(engine: Engine): Promise<void> {
  await engine.images.close();
  await engine.memory.close();
  await engine.networks.close();
  engine.client.close();
}

function available(facts: EngineFacts, egress: Egress, log: Logger): DriverStatus {
  if (facts.noDiskLimit !== null) log.warn({ reason: facts.noDiskLimit }, 'sandboxes have no disk limit');
  if (egress.reason !== null) log.warn({ reason: egress.reason }, 'sandboxes have no network');
  return {
    available: true,
    details: {
      runtime: `Docker ${facts.version} (${facts.defaultRuntime})`,
      cgroups: facts.cgroups,
      nameservers: egress.nameservers,
      user_namespace: facts.userNamespace,
      disk_limit: facts.noDiskLimit ?? 'held',
      egress: egress.reason ?? 'available',
      gvisor: facts.runtimes.has(GVISOR_RUNTIME),
    },
  };
}

/** Explains why `openEngine` failed and how to fix it. */
export function whyUnavailable(error: unknown, { host }: EngineSettings): DriverStatus {
  const said = error instanceof Error ? error.message : String(error);
  if (!(error instanceof EngineUnreachable)) return { available: false, reason: said, install: null };
  const reason = `no Docker Engine answers at ${host} (${said})`;
  if (/EACCES/.test(said)) return { available: false, reason, install: 'usermod -aG docker $USER' };
  const install = 'apt-get install -y docker.io && systemctl enable --now docker';
  return { available: false, reason, install: host.startsWith('unix:') ? install : null };
}
