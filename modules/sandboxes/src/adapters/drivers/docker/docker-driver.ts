import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { sandboxErrors } from '../../../errors.ts';
import { assertSandboxId } from '../../../domain/driver.ts';
import type {
  DeclaredCapability,
  DriverStatus,
  FoundSandbox,
  Isolation,
  SandboxCondition,
  SandboxDriver,
  SandboxSpec,
  SandboxStats,
} from '../../../domain/driver.ts';
import { HELPER_PATH } from '../local/oci-config.ts';
import { containerRequest } from './container-request.ts';
import { containerStats } from './container-stats.ts';
import type { EngineImage } from './docker-images.ts';
import { DockerSnapshots } from './docker-snapshots.ts';
import { asFields, EngineRefusal, isConflict, isMissing } from './engine-client.ts';
import { engineFailure } from './engine-failure.ts';
import { ExecStream } from './exec-stream.ts';
import { engineName, filterByOwner, SANDBOX_LABEL } from './names.ts';
import {
  closeEngine,
  GVISOR_RUNTIME,
  openEngine,
  whyUnavailable,
  type DockerDriverOptions,
  type Engine,
} from './open-engine.ts';

const OPEN_LIMIT_MS = 60_000;
/** Timeout of requests without a limit of their own. */
const REQUEST_LIMIT_MS = 60_000;
/** Extra time for the engine beyond a sandbox's grace period. */
const STOP_MARGIN_MS = 20_000;
const NO_DISK_LIMIT: ReadonlySet<DeclaredCapability> = new Set(['disk_limit']);
const NOTHING: ReadonlySet<DeclaredCapability> = new Set();

/** Runs sandboxes as containers of a Docker Engine, through its API. */
export class DockerDriver implements SandboxDriver {
  readonly name = 'docker';
  /** The engine does the work, possibly on another machine, and pulls images meanwhile. */
  readonly parallelStarts = 16;
  readonly snapshots: DockerSnapshots;
  readonly #options: DockerDriverOptions;
  /** Ids of sandboxes whose containers have the former owner's mark and name. */
  readonly #former = new Set<string>();
  #engine: Engine | null = null;
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: DockerDriverOptions) {
    this.#options = options;
    this.snapshots = new DockerSnapshots({
      owners: options.owners,
      client: () => this.#need().client,
      containerName: (id) => this.#nameOf(id),
    });
  }

  async open(): Promise<DriverStatus> {
    await this.close();
    try {
      const opened = await openEngine(this.#options, AbortSignal.timeout(OPEN_LIMIT_MS));
      this.#engine = opened.engine;
      this.#status = opened.status;
      await this.list(); // learns which containers have the former owner's names
      await this.#sweep({ halfMade: true });
    } catch (error) {
      this.#status = whyUnavailable(error, this.#options.engine);
    }
    return this.#status;
  }

  status(): DriverStatus {
    return this.#status;
  }

  /** The first create may learn that the engine's storage has no limits. */
  get lacks(): ReadonlySet<DeclaredCapability> {
    return this.#engine?.limitDisk === false ? NO_DISK_LIMIT : NOTHING;
  }

  whyUnsupported(isolation: Isolation): string | null {
    if (isolation === 'namespaces' || this.#engine?.facts.runtimes.has(GVISOR_RUNTIME) === true) return null;
    return `the Docker Engine has no runtime ${GVISOR_RUNTIME}`;
  }

  async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const engine = this.#need();
    const name = this.#nameOf(spec.id);
    try {
      if ((await this.#inspect(name, signal)) !== null) return;
      const image = await this.#provideImage(engine, spec, signal);
      const network = spec.network === 'egress' ? await engine.networks.provide(spec.id, signal) : 'none';
      const body = (limitDisk: boolean): unknown =>
        containerRequest(spec, {
          owner: this.#options.owners.current,
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
      throw engineFailure(error, 'ROOTFS_FAILED');
    }
  }

  async isCreated(id: string): Promise<boolean> {
    return (await this.#inspect(this.#nameOf(id), AbortSignal.timeout(REQUEST_LIMIT_MS))) !== null;
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const { client } = this.#need();
    try {
      await client.json('POST', `/containers/${this.#nameOf(spec.id)}/start`, { signal });
    } catch (error) {
      if (isMissing(error)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      throw engineFailure(error, 'RUNTIME_FAILED');
    }
  }

  async connect(id: string, signal: AbortSignal): Promise<HelperConnection> {
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
            Cmd: [HELPER_PATH, 'bridge'],
          },
          signal,
        }),
      );
      const path = `/exec/${String(made['Id'])}/start`;
      const { socket, head } = await client.hijack(path, { body: { Detach: false, Tty: false }, signal });
      return await HelperConnection.over(new ExecStream(socket, head), signal);
    } catch (error) {
      throw sandboxErrors.AGENT_TIMEOUT({ cause: error });
    }
  }

  async inspect(id: string): Promise<SandboxCondition> {
    const found = await this.#inspect(this.#nameOf(id), AbortSignal.timeout(REQUEST_LIMIT_MS));
    const state = asFields(found?.['State']);
    const outOfMemory = state['OOMKilled'] === true || (found !== null && this.#need().memory.kills(id) > 0);
    return { running: state['Running'] === true, outOfMemory };
  }

  async stats(id: string): Promise<SandboxStats> {
    const { client, memory } = this.#need();
    const name = this.#nameOf(id);
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      return { ...(await containerStats(client, name, signal)), oomKills: memory.kills(id) };
    } catch (error) {
      if (isMissing(error))
        return { cpuMicroseconds: null, memoryBytes: null, pids: null, diskBytes: null, oomKills: null };
      throw engineFailure(error, 'RUNTIME_FAILED');
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
      if (!isMissing(error)) throw engineFailure(error, 'RUNTIME_FAILED');
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
      else if (!isMissing(error)) throw engineFailure(error, 'RUNTIME_FAILED');
    }
    await networks.remove(name, signal).catch((error: unknown) => {
      throw engineFailure(error, 'RUNTIME_FAILED');
    });
    this.#former.delete(id);
    await this.#sweep({ halfMade: false });
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const { current, former } = this.#options.owners;
    const earlier = (await this.#listOf(former)).map((each) => ({ ...each, mayBeForeign: true }));
    this.#former.clear();
    for (const { id } of earlier) this.#former.add(id);
    return [...(await this.#listOf(current)), ...earlier];
  }

  async #listOf(owner: string): Promise<readonly FoundSandbox[]> {
    const { client } = this.#need();
    const query = { all: true, filters: filterByOwner(owner) };
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
    if (engine !== null) await closeEngine(engine);
    this.#status = { available: false, reason: 'closed', install: null };
  }

  /** A snapshot's image inherits the settings of its base image. */
  async #provideImage(engine: Engine, { image, snapshotId }: SandboxSpec, signal: AbortSignal): Promise<EngineImage> {
    if (typeof snapshotId !== 'string') return engine.images.provide(image, signal);
    return { id: await this.snapshots.provide(snapshotId, signal), settings: null };
  }

  /** Removes unused snapshot images. What remains is retried when a sandbox is removed or the platform starts. */
  async #sweep(what: { readonly halfMade: boolean }): Promise<void> {
    await this.snapshots.sweep(what).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'images of removed snapshots could not be removed yet');
    });
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
      if (isConflict(error)) return; // created meanwhile under the same name
      // The engine has no code for an option that its storage driver lacks: the status is that of any failure (500).
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

  /** Inspects a container; null if there is none. */
  async #inspect(name: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      return asFields(await this.#need().client.json('GET', `/containers/${name}/json`, { signal }));
    } catch (error) {
      if (isMissing(error)) return null;
      throw engineFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Engines use different error codes when the state is already reached, so check the state. */
  async #set(id: string, state: 'pause' | 'unpause'): Promise<void> {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const name = this.#nameOf(id);
    try {
      await this.#need().client.json('POST', `/containers/${name}/${state}`, { signal });
    } catch (error) {
      const found = asFields((await this.#inspect(name, signal))?.['State']);
      const paused = found['Paused'] === true;
      if (state === 'pause' ? paused : !paused) return;
      throw engineFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Engines neither stop nor remove a paused container. They have no code for it, and its status means any conflict. */
  async #resumed(id: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineRefusal && /paused/i.test(error.message))) throw error;
      await this.resume(id);
      await work();
    }
  }

  /** Waits for a removal that is already in progress. */
  async #awaitRemoval(name: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#need();
    const query = { condition: 'removed' };
    await client.json('POST', `/containers/${name}/wait`, { query, signal }).catch((error: unknown) => {
      if (!isMissing(error)) throw engineFailure(error, 'RUNTIME_FAILED');
    });
  }

  #nameOf(id: string): string {
    assertSandboxId(id);
    const { current, former } = this.#options.owners;
    return engineName(this.#former.has(id) ? former : current, id);
  }

  #need(): Engine {
    if (this.#engine !== null) return this.#engine;
    const reason = this.#status.available ? 'closed' : this.#status.reason;
    throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details: { reason } });
  }
}
