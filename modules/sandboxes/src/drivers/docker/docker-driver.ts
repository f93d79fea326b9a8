import type { AppError } from '@svc/errors';
import { isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import { AgentConnection } from '../../agent/agent-connection.ts';
import { isCauseCode, sandboxErrors, type CauseCode } from '../../errors.ts';
import type { ImageCatalog } from '../../images/catalog.ts';
import type { ImageStore } from '../../images/image-store.ts';
import { assertSandboxId } from '../driver.ts';
import type {
  DriverStatus,
  FoundSandbox,
  Isolation,
  SandboxCondition,
  SandboxDriver,
  SandboxSpec,
  SandboxStats,
} from '../driver.ts';
import { verifiedAgentBinary } from '../local/agent-binary.ts';
import { AGENT_PATH } from '../local/oci-config.ts';
import { containerRequest } from './container-request.ts';
import { DockerImages, type RegistryLogin } from './docker-images.ts';
import { DockerNetworks, type Egress } from './docker-networks.ts';
import { asFields, EngineClient, EngineRefusal, EngineUnreachable, isConflict, isMissing } from './engine-client.ts';
import { endpointOf, type EngineSettings } from './engine-endpoint.ts';
import { readFacts, type EngineFacts } from './engine-facts.ts';
import { ExecStream } from './exec-stream.ts';
import { installHelper } from './helper-volume.ts';
import { MemoryWatch } from './memory-watch.ts';
import { engineName, filterByOwner, ownerOf, SANDBOX_LABEL } from './names.ts';

export interface DockerDriverOptions {
  readonly engine: EngineSettings;
  /** The platform's data folder: whose sandboxes these are. */
  readonly dataFolder: string;
  /** Folder of the helper's binaries and their SHA256SUMS. */
  readonly agentFolder: string;
  readonly catalog: ImageCatalog;
  readonly images: ImageStore;
  readonly logins: readonly RegistryLogin[];
  /** The first two numbers of the IPv4 range (a /16) of sandboxes with egress, such as `100.97`. */
  readonly addressPrefix: string;
  readonly nameservers: readonly string[];
  /** A network of the operator for sandboxes with egress; null = one of our own for each. */
  readonly network: string | null;
  readonly log: Logger;
}

interface Engine {
  readonly client: EngineClient;
  readonly facts: EngineFacts;
  readonly helperVolume: string;
  readonly images: DockerImages;
  readonly networks: DockerNetworks;
  readonly memory: MemoryWatch;
  limitDisk: boolean;
}

const GVISOR_RUNTIME = 'runsc';
const OPEN_LIMIT_MS = 60_000;
/** For requests that nobody else bounds. */
const REQUEST_LIMIT_MS = 60_000;
/** What the engine may take beyond the time that a sandbox was given to end. */
const STOP_MARGIN_MS = 20_000;

/** Sandboxes as containers of a Docker Engine, over its API. */
export class DockerDriver implements SandboxDriver {
  readonly name = 'docker';
  readonly #options: DockerDriverOptions;
  readonly #owner: string;
  #engine: Engine | null = null;
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: DockerDriverOptions) {
    this.#options = options;
    this.#owner = ownerOf(options.dataFolder);
  }

  async open(): Promise<DriverStatus> {
    await this.close();
    try {
      this.#status = await this.#prepare(AbortSignal.timeout(OPEN_LIMIT_MS));
    } catch (error) {
      this.#status = this.#unavailable(error);
    }
    return this.#status;
  }

  status(): DriverStatus {
    return this.#status;
  }

  supports(isolation: Isolation): boolean {
    return isolation === 'default' || (this.#engine?.facts.runtimes.has(GVISOR_RUNTIME) ?? false);
  }

  async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const engine = this.#need();
    const name = this.#nameOf(spec.id);
    try {
      if ((await this.#look(name, signal)) !== null) return;
      const image = await engine.images.provide(spec.image, signal);
      const network = spec.network === 'egress' ? await engine.networks.provide(spec.id, signal) : 'none';
      const body = (limitDisk: boolean): unknown =>
        containerRequest(spec, {
          owner: this.#owner,
          image: image.id,
          settings: image.settings,
          helperVolume: engine.helperVolume,
          architecture: engine.facts.architecture,
          network,
          nameservers: engine.networks.nameservers,
          runtime: spec.isolation === 'gvisor' ? GVISOR_RUNTIME : null,
          limitDisk,
        });
      await this.#createContainer(engine, name, body, signal);
    } catch (error) {
      throw this.#translate(error, 'ROOTFS_FAILED');
    }
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const { client } = this.#need();
    try {
      await client.json('POST', `/containers/${this.#nameOf(spec.id)}/start`, { signal });
    } catch (error) {
      if (isMissing(error)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      throw this.#translate(error, 'RUNTIME_FAILED');
    }
  }

  async connect(id: string, signal: AbortSignal): Promise<AgentConnection> {
    const { client } = this.#need();
    const name = this.#nameOf(id);
    try {
      const made = asFields(
        await client.json('POST', `/containers/${name}/exec`, {
          body: {
            AttachStdin: true,
            AttachStdout: true,
            AttachStderr: true,
            Tty: false,
            User: '0:0',
            Cmd: [AGENT_PATH, 'bridge'],
          },
          signal,
        }),
      );
      const path = `/exec/${String(made['Id'])}/start`;
      const { socket, head } = await client.hijack(path, { body: { Detach: false, Tty: false }, signal });
      return await AgentConnection.over(new ExecStream(socket, head), signal);
    } catch (error) {
      throw sandboxErrors.AGENT_TIMEOUT({ cause: error });
    }
  }

  async inspect(id: string): Promise<SandboxCondition> {
    const found = await this.#look(this.#nameOf(id), AbortSignal.timeout(REQUEST_LIMIT_MS));
    const state = asFields(found?.['State']);
    const outOfMemory = state['OOMKilled'] === true || (found !== null && this.#need().memory.kills(id) > 0);
    return { running: state['Running'] === true, outOfMemory };
  }

  async stats(id: string): Promise<SandboxStats> {
    const { client } = this.#need();
    const name = this.#nameOf(id);
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      const query = { stream: false, 'one-shot': true };
      const [stats, container] = await Promise.all([
        client.json('GET', `/containers/${name}/stats`, { query, signal }).then(asFields),
        client.json('GET', `/containers/${name}/json`, { query: { size: true }, signal }).then(asFields),
      ]);
      const memory = asFields(stats['memory_stats']);
      const cpu = numberOf(asFields(asFields(stats['cpu_stats'])['cpu_usage'])['total_usage']);
      return {
        cpuMicroseconds: cpu === null ? null : Math.round(cpu / 1000),
        memoryBytes: numberOf(memory['usage']),
        pids: numberOf(asFields(stats['pids_stats'])['current']),
        diskBytes: numberOf(container['SizeRw']) ?? 0, // left out when nothing was written
        oomKills: this.#need().memory.kills(id),
      };
    } catch (error) {
      if (isMissing(error))
        return { cpuMicroseconds: null, memoryBytes: null, pids: null, diskBytes: null, oomKills: null };
      throw this.#translate(error, 'RUNTIME_FAILED');
    }
  }

  async pause(id: string): Promise<void> {
    await this.#set(id, 'pause');
  }

  async resume(id: string): Promise<void> {
    await this.#set(id, 'unpause');
  }

  async stop(id: string, graceMs: number): Promise<void> {
    const { client } = this.#need();
    const path = `/containers/${this.#nameOf(id)}`;
    const seconds = Math.ceil(graceMs / 1000);
    const signal = AbortSignal.timeout(graceMs + STOP_MARGIN_MS);
    try {
      await this.#resumed(id, () => client.json('POST', `${path}/stop`, { query: { t: seconds }, signal }));
    } catch (error) {
      if (!isMissing(error)) throw this.#translate(error, 'RUNTIME_FAILED');
    }
  }

  async remove(id: string): Promise<void> {
    const { client, networks } = this.#need();
    const name = this.#nameOf(id);
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      const query = { force: true, v: true };
      await this.#resumed(id, () => client.json('DELETE', `/containers/${name}`, { query, signal }));
    } catch (error) {
      if (isConflict(error)) await this.#awaitRemoval(name, signal);
      else if (!isMissing(error)) throw this.#translate(error, 'RUNTIME_FAILED');
    }
    await networks.remove(id, signal).catch((error: unknown) => {
      throw this.#translate(error, 'RUNTIME_FAILED');
    });
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const { client } = this.#need();
    const query = { all: true, filters: filterByOwner(this.#owner) };
    const found = await client.json('GET', '/containers/json', {
      query,
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    return (Array.isArray(found) ? found : []).map(asFields).flatMap((each) => {
      const id = asFields(each['Labels'])[SANDBOX_LABEL];
      const running = each['State'] === 'running' || each['State'] === 'paused';
      return typeof id === 'string' ? [{ id, running, paused: each['State'] === 'paused' }] : [];
    });
  }

  async close(): Promise<void> {
    const engine = this.#engine;
    this.#engine = null;
    await engine?.images.close();
    await engine?.memory.close();
    engine?.client.close();
    this.#status = { available: false, reason: 'closed', install: null };
  }

  async #prepare(signal: AbortSignal): Promise<DriverStatus> {
    const { engine, agentFolder, catalog, images, logins, addressPrefix, nameservers, network } = this.#options;
    const client = new EngineClient(await endpointOf(engine));
    try {
      const version = await client.greet(signal);
      const facts = readFacts(await client.json('GET', '/info', { signal }), version);
      const helperFile = await verifiedAgentBinary(agentFolder, facts.architecture);
      const helperVolume = await installHelper(client, helperFile, signal);
      const networks = new DockerNetworks({ client, owner: this.#owner, addressPrefix, nameservers, network });
      const egress = await networks.open(signal);
      const packer = await verifiedAgentBinary(agentFolder, process.arch);
      const memory = new MemoryWatch(client, this.#owner, this.#options.log);
      memory.start();
      this.#engine = {
        client,
        memory,
        facts,
        helperVolume,
        images: new DockerImages({ client, catalog, images, logins, packer }),
        networks,
        limitDisk: facts.noDiskLimit === null,
      };
      return this.#available(facts, egress);
    } catch (error) {
      client.close();
      throw error;
    }
  }

  #available(facts: EngineFacts, egress: Egress): DriverStatus {
    if (facts.noDiskLimit !== null)
      this.#options.log.warn({ reason: facts.noDiskLimit }, 'sandboxes have no disk limit');
    if (egress.reason !== null) this.#options.log.warn({ reason: egress.reason }, 'sandboxes have no network');
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

  #unavailable(error: unknown): DriverStatus {
    const said = error instanceof Error ? error.message : String(error);
    const { host } = this.#options.engine;
    if (!(error instanceof EngineUnreachable)) return { available: false, reason: said, install: null };
    const reason = `no Docker Engine answers at ${host} (${said})`;
    if (/EACCES/.test(said)) return { available: false, reason, install: 'usermod -aG docker $USER' };
    const install = 'apt-get install -y docker.io && systemctl enable --now docker';
    return { available: false, reason, install: host.startsWith('unix:') ? install : null };
  }

  async #createContainer(
    engine: Engine,
    name: string,
    body: (limitDisk: boolean) => unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const create = (limitDisk: boolean): Promise<unknown> =>
      engine.client.json('POST', '/containers/create', { query: { name }, body: body(limitDisk), signal });
    try {
      await create(engine.limitDisk);
    } catch (error) {
      if (isConflict(error)) return; // made meanwhile, by the same name
      const noLimit = error instanceof EngineRefusal && /storage-opt is supported only|pquota/i.test(error.message);
      if (!engine.limitDisk || !noLimit) throw error;
      engine.limitDisk = false;
      this.#options.log.warn({ reason: error.message }, 'sandboxes have no disk limit');
      if (this.#status.available) {
        this.#status = { available: true, details: { ...this.#status.details, disk_limit: error.message } };
      }
      await create(false);
    }
  }

  /** The container as the engine describes it; null when there is none. */
  async #look(name: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      return asFields(await this.#need().client.json('GET', `/containers/${name}/json`, { signal }));
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.#translate(error, 'RUNTIME_FAILED');
    }
  }

  /** Engines refuse what is so already with different codes, so the state decides. */
  async #set(id: string, state: 'pause' | 'unpause'): Promise<void> {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const name = this.#nameOf(id);
    try {
      await this.#need().client.json('POST', `/containers/${name}/${state}`, { signal });
    } catch (error) {
      const found = asFields((await this.#look(name, signal))?.['State']);
      const paused = found['Paused'] === true;
      if (state === 'pause' ? paused : !paused) return;
      throw this.#translate(error, 'RUNTIME_FAILED');
    }
  }

  /** Engines neither stop nor remove what is paused. */
  async #resumed(id: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineRefusal && /paused/i.test(error.message))) throw error;
      await this.resume(id);
      await work();
    }
  }

  /** Somebody else removes it already: that is over when it is over. */
  async #awaitRemoval(name: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#need();
    const query = { condition: 'removed' };
    await client.json('POST', `/containers/${name}/wait`, { query, signal }).catch((error: unknown) => {
      if (!isMissing(error)) throw this.#translate(error, 'RUNTIME_FAILED');
    });
  }

  #nameOf(id: string): string {
    assertSandboxId(id);
    return engineName(this.#owner, id);
  }

  #need(): Engine {
    if (this.#engine !== null) return this.#engine;
    const reason = this.#status.available ? 'closed' : this.#status.reason;
    throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details: { reason } });
  }

  #translate(error: unknown, code: CauseCode): AppError {
    if (isAppError(error)) return error;
    const reason = error instanceof Error ? error.message : String(error);
    const full = /no space left|quota exceeded/i.test(reason) ? 'DISK_FULL' : code;
    return sandboxErrors[isCauseCode(full) ? full : code]({ details: { reason }, cause: error });
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}
