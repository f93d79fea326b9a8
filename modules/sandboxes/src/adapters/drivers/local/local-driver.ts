import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppError, isAppError } from '@svc/errors';
import type { HelperBinaries } from '@svc/helper-binary';
import type { Logger } from '@svc/telemetry';
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { isCauseCode, sandboxErrors } from '../../../errors.ts';
import { defaultIsolation, type IsolationSetting } from '../../../domain/isolation.ts';
import type { ImageStore, PreparedImage } from '../../images/image-store.ts';
import type { LiveEgressRules } from '../../../domain/egress-rules/egress-rule.ts';
import {
  assertSandboxId,
  type DriverStatus,
  type FoundSandbox,
  type Isolation,
  type SandboxCondition,
  type SandboxDriver,
  type SandboxSpec,
  type SandboxStats,
} from '../../../domain/driver.ts';
import { LocalEgress } from './egress/local-egress.ts';
import type { IssueCertificate } from './gateway/host-certificates.ts';
import { runscStream } from './gvisor/runsc-stream.ts';
import { imagesInUse, readKept, writeRecord, type KeptSandbox } from './kept-sandbox.ts';
import { fields, LauncherFailure, sandboxesIn } from './launcher-process.ts';
import { LocalBuilds } from './local-builds.ts';
import { LocalSnapshots, type LocalSnapshotsOptions } from './local-snapshots.ts';
import { LocalVolumes } from './local-volumes.ts';
import { LocalMounts, type SandboxTenants, type ServeMount } from './local-mounts.ts';
import { prepareMachine, removeFirewall, type Machine } from './machine.ts';
import type { RuntimeKind } from './runtime.ts';
import { LocalPreparedStarts, type PreparedKind } from './local-prepared-starts.ts';
import { adjustment, firstFiles, preparationPlan, startPlan } from './start-plan.ts';

export interface LocalDriverOptions extends Pick<LocalSnapshotsOptions, 'disk'> {
  /** Stores the disks and records of sandboxes; persistent. */
  readonly dataFolder: string;
  /** For sockets and bundles. In memory, with a short path, and the same at every start with the same data. */
  readonly runFolder: string;
  readonly helperBinaries: HelperBinaries;
  readonly images: ImageStore;
  readonly runtime: 'auto' | RuntimeKind;
  /** Determines the isolation that most sandboxes use. */
  readonly isolation: IsolationSetting;
  /** Path of gVisor's `runsc`; null to search the system's folders. */
  readonly runsc: string | null;
  /** The first two numbers of the IPv4 range (a /16) for sandboxes, such as `100.96`. */
  readonly addressPrefix: string;
  /** Resolvers for sandboxes; defaults to the host's when empty. */
  readonly nameservers: readonly string[];
  /** Called when a sandbox asks for a host outside its allowlist. */
  readonly egressRefused: (sandboxId: string, host: string) => void;
  /** Serves requests for mounted buckets. */
  readonly serveMount: ServeMount;
  /** Who has shares of connections. */
  readonly tenants: SandboxTenants;
  /** Issues certificates of the authority of a sandbox. */
  readonly issueCertificate: IssueCertificate;
  /** Kind and number of prepared starts. */
  readonly prepared: PreparedKind & { readonly count: number };
  readonly newId: () => string;
  readonly log: Logger;
}

/** State that a create passes to the following start. */
interface CreatedSandbox {
  readonly kept: KeptSandbox;
  /** Held by the sandbox, so it is not removed. */
  readonly image: PreparedImage;
  /** Resolves when the record is on disk. The start runs in parallel and awaits it at the end. */
  readonly written: Promise<void>;
}

/** Runs sandboxes on this machine through the launcher: with our own helper, or as OCI bundles with crun or runc. */
export class LocalDriver implements SandboxDriver {
  readonly name = 'local';
  readonly snapshots: LocalSnapshots;
  readonly volumes: LocalVolumes;
  readonly #mounts: LocalMounts;
  readonly builds: LocalBuilds;
  readonly limitsEgress = true;
  readonly whyNoMounts = (): string | null => this.#mounts.whyNot();
  readonly #options: LocalDriverOptions;
  #machine: Machine | null = null;
  #egress: LocalEgress | null = null;
  #prepared: LocalPreparedStarts | null = null;
  readonly #created = new Map<string, CreatedSandbox>();
  /** Catalog names of images that were prepared before; bounded by the catalog's size. */
  readonly #imagesSeen = new Set<string>();
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: LocalDriverOptions) {
    this.#options = options;
    const helper = async (): Promise<string> => (await options.helperBinaries(process.arch)).file;
    const machine = (): Machine => this.#need();
    this.volumes = new LocalVolumes({ ...options, machine, call: (...call) => this.#call(...call) });
    this.#mounts = new LocalMounts({ ...options, serve: options.serveMount });
    this.builds = new LocalBuilds({ ...options, helper });
    this.snapshots = new LocalSnapshots({
      ...options,
      firstFiles: (spec) => firstFiles(spec, this.#need().nameservers, options.addressPrefix),
      call: (...call) => this.#call(...call),
    });
  }

  async open(): Promise<DriverStatus> {
    try {
      await this.#options.images.declare(await imagesInUse(this.#options.dataFolder), { exactly: true });
      const { machine, status } = await prepareMachine(this.#options);
      this.#machine = machine;
      this.#status = status;
      if (machine !== null) await this.#takeOver(machine);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#status = { available: false, reason, install: null };
    }
    return this.#status;
  }

  get preparedStarts(): LocalPreparedStarts | null {
    return this.#prepared;
  }

  status(): DriverStatus {
    return this.#status;
  }

  whyUnsupported(isolation: Isolation): string | null {
    if (isolation === 'namespaces') return null;
    return this.#machine === null ? 'the driver is not open' : this.#machine.gvisor.fault;
  }

  async prepareImage(image: string, signal: AbortSignal): Promise<void> {
    if (this.#imagesSeen.has(image)) return; // `create` checks again
    await this.#options.images.prepare(image, signal);
    this.#imagesSeen.add(image);
  }

  async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const { templates } = this.#need();
    signal.throwIfAborted();
    if (this.#created.has(spec.id) || (await this.#kept(spec.id)) !== null) return;
    if (typeof spec.snapshotId === 'string') return this.snapshots.provide(spec, spec.snapshotId);
    const folder = this.#folder(spec.id);
    const image = await this.builds.claim(spec, signal);
    await templates.ofSize(spec.resources.diskMb);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const kept = { digest: image.digest, egressAllow: spec.egressAllow ?? null, isolation: spec.isolation };
    const written = writeRecord(join(folder, 'sandbox.json'), kept);
    written.catch(() => undefined); // reported by the start
    this.#created.set(spec.id, { kept, image, written });
  }

  async isCreated(id: string): Promise<boolean> {
    return (await this.#kept(id)) !== null;
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const machine = this.#need();
    const work = (): Promise<void> => this.#start(machine, spec, signal);
    await (this.#prepared === null ? work() : this.#prepared.whileStarting(spec.id, work));
  }

  async #start(machine: Machine, spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const created = this.#created.get(spec.id);
    const kept = created?.kept ?? (await this.#kept(spec.id));
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    const { addressPrefix, images } = this.#options;
    const image = created?.image ?? (await images.byDigest(kept.digest));
    if (image === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    const diskTemplate = await machine.templates.ofSize(spec.resources.diskMb);
    signal.throwIfAborted();
    const buckets = await this.#mounts.plan(spec, kept, created?.written, signal);
    const disk = join(this.#folder(spec.id), 'disk.img');
    const volumeFile = (id: string): string => this.volumes.fileOf(id);
    const plan = startPlan(spec, { machine, image, addressPrefix, disk, diskTemplate, volumeFile, buckets });
    const { slot } = fields(await this.#call('start', spec.id, { plan }));
    await this.#settleCreated(spec.id);
    await this.#egress?.admit(spec.id, slot, spec.egressAllow);
  }

  /** Rejects if the record could not be written. */
  async #settleCreated(id: string): Promise<void> {
    const created = this.#created.get(id);
    this.#created.delete(id);
    await created?.written;
  }

  async adjust(spec: SandboxSpec): Promise<void> {
    await this.#call('adjust', spec.id, adjustment(spec, this.#need()));
  }

  async changeEgress(id: string, allowed: readonly string[]): Promise<void> {
    const machine = this.#need();
    await this.#settleCreated(id);
    const kept = await this.#kept(id);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    const file = join(this.#folder(id), 'sandbox.json');
    await writeRecord(file, { ...kept, egressAllow: allowed }); // what the next platform goes by
    try {
      const found = sandboxesIn(await machine.launcher.call('list')).find(({ sandbox }) => sandbox === id);
      if (found?.['alive'] === true) await this.#egress?.change(id, found['slot'], allowed);
    } catch (error) {
      await writeRecord(file, kept);
      throw error;
    }
  }

  imageVersion(image: string): Promise<string | null> {
    return this.#options.images.findDigest(image);
  }

  async connect(id: string, signal: AbortSignal): Promise<HelperConnection> {
    const { gvisor } = this.#need();
    assertSandboxId(id);
    try {
      if ((await this.#kept(id))?.isolation === 'gvisor') {
        if (gvisor.path === null) throw new Error(gvisor.fault);
        const stream = runscStream(gvisor.path, join(this.#options.runFolder, 'runtime'), id);
        return await HelperConnection.over(stream, signal);
      }
      return await HelperConnection.open(join(this.#options.runFolder, 'sandboxes', id, 'agent.sock'), signal);
    } catch (error) {
      throw sandboxErrors.AGENT_TIMEOUT({ cause: error });
    }
  }

  async inspect(id: string): Promise<SandboxCondition> {
    const { alive, oom_kills: kills } = fields(await this.#call('inspect', id));
    return { running: alive === true, outOfMemory: typeof kills === 'number' && kills > 0 };
  }

  async stats(id: string): Promise<SandboxStats> {
    const found = fields(await this.#call('stats', id));
    const count = (name: string): number | null => {
      const value = found[name];
      return typeof value === 'number' && value >= 0 ? value : null;
    };
    return {
      cpuMicroseconds: count('cpu_us'),
      memoryBytes: count('memory_bytes'),
      pids: count('pids'),
      diskBytes: count('disk_bytes'),
      volumeBytes: count('volume_bytes'),
      oomKills: count('oom_kills'),
    };
  }

  async applyRules(id: string, live: LiveEgressRules | null): Promise<void> {
    const { slot, alive } = fields(await this.#call('inspect', id));
    if (live !== null && alive !== true) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'ended' } });
    await this.#egress?.applyRules(id, slot, live);
  }

  async pause(id: string): Promise<void> {
    await this.#call('pause', id);
  }

  async resume(id: string): Promise<void> {
    await this.#call('resume', id);
  }

  async stop(id: string, graceMs: number): Promise<void> {
    await this.#egress?.release(id);
    await this.#call('stop', id, { timeout_ms: graceMs });
  }

  async remove(id: string): Promise<void> {
    await this.#egress?.release(id);
    this.#prepared?.forget(id);
    this.#mounts.forget(id);
    await this.#settleCreated(id).catch(() => undefined); // being removed, whether it was written or not
    await this.#call('clean', id);
    await rm(this.#folder(id), { recursive: true, force: true });
    await this.#options.images.release(id);
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const listed = sandboxesIn(await this.#call('list', ''));
    const found = new Map<string, FoundSandbox>();
    for (const name of await readdir(join(this.#options.dataFolder, 'disks'))) {
      found.set(name, { id: name, running: false, paused: false });
    }
    for (const each of listed.filter(({ serves_volume: serves }) => serves !== true)) {
      const id = String(each['sandbox']);
      if (typeof each['prepared_disk'] === 'string' || this.#prepared?.owns(id) === true) continue; // not a sandbox yet
      found.set(id, { id, running: each['alive'] === true, paused: each['paused'] === true });
    }
    return [...found.values()];
  }

  async close(): Promise<void> {
    const machine = this.#machine;
    await this.#prepared?.close();
    this.#prepared = null;
    this.#machine = null;
    this.#status = { available: false, reason: 'closed', install: null };
    await this.#egress?.close();
    await this.#mounts.close();
    this.#egress = null;
    await machine?.launcher.close();
    if (machine !== null) await this.#cleanUp(machine);
  }

  /** Keeps folder and firewall while sandboxes are running: the next start finds them through the folder. */
  async #cleanUp(machine: Machine): Promise<void> {
    const { runFolder, log } = this.#options;
    if ((await readdir(join(runFolder, 'sandboxes'))).length > 0) return;
    await removeFirewall(machine, log);
    await rm(runFolder, { recursive: true, force: true });
  }

  /** Adopts sandboxes that kept running; cleans up unfinished starts, stops and prepared starts. */
  async #takeOver(machine: Machine): Promise<void> {
    const { addressPrefix, egressRefused: refused, issueCertificate: issue, log, prepared, newId } = this.#options;
    const egress = new LocalEgress({ machine, addressPrefix, refused, issue, tenants: this.#options.tenants, log });
    this.#egress = egress;
    const known = sandboxesIn(await machine.launcher.call('list'));
    await egress.open(known.map(({ slot }) => slot));
    await this.#mounts.open();
    for (const { sandbox, slot, alive, prepared_disk: half, serves_volume: serves } of known) {
      const id = String(sandbox);
      const isReady = alive === true && half === undefined && serves !== true;
      if (isReady) await egress.admitAgain(id, slot, (await this.#kept(id))?.egressAllow);
      else await machine.launcher.call('clean', { sandbox: id });
    }
    await rm(this.#preparedDisks(), { recursive: true, force: true });
    await mkdir(this.#preparedDisks(), { recursive: true, mode: 0o700 });
    // gVisor cannot use prepared starts.
    const usual = defaultIsolation(this.#options.isolation, machine.gvisor.fault === null);
    this.#prepared = new LocalPreparedStarts({
      count: machine.runtime.kind === 'builtin' && usual === 'namespaces' ? prepared.count : 0,
      kind: prepared,
      newId,
      prepare: (id) => this.#prepare(machine, id),
      remove: (id) => this.remove(id),
      living: async () => {
        const all = sandboxesIn(await machine.launcher.call('list'));
        return new Set(all.filter(({ alive }) => alive === true).map(({ sandbox }) => String(sandbox)));
      },
      log,
    });
    machine.launcher.onEnded(() => this.#prepared?.launcherEnded());
  }

  async #prepare(machine: Machine, id: string): Promise<void> {
    const {
      addressPrefix,
      prepared: { resources, network },
    } = this.#options;
    const diskTemplate = await machine.templates.ofSize(resources.diskMb);
    const disk = join(this.#preparedDisks(), `${id}.img`);
    const spec = { id, hostname: 'sandbox', image: '', resources, network, isolation: 'namespaces' } as const;
    const plan = preparationPlan(spec, { machine, disk, diskTemplate, addressPrefix });
    await this.#call('prepare', id, { plan });
  }

  #preparedDisks(): string {
    return join(this.#options.dataFolder, 'prepared');
  }

  #folder(id: string): string {
    assertSandboxId(id);
    return join(this.#options.dataFolder, 'disks', id);
  }

  async #kept(id: string): Promise<KeptSandbox | null> {
    assertSandboxId(id);
    return readKept(this.#options.dataFolder, id);
  }

  #need(): Machine {
    if (this.#machine !== null) return this.#machine;
    const reason = this.#status.available ? 'closed' : this.#status.reason;
    throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details: { reason } });
  }

  async #call(op: string, sandbox: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
    const { launcher } = this.#need();
    if (sandbox !== '') assertSandboxId(sandbox); // '' means no specific sandbox
    try {
      return await launcher.call(op, { sandbox, ...parameters });
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Hides host paths, which mean nothing to a caller; the log has them. */
  #translate(error: unknown): AppError {
    if (isAppError(error)) return error;
    const code = error instanceof LauncherFailure ? error.code : 'RUNTIME_FAILED';
    if (code === 'VOLUME_MOUNTED') return sandboxErrors.VOLUME_MOUNTED({ cause: error });
    const reason = (error instanceof Error ? error.message : String(error))
      .replaceAll(this.#options.runFolder, '(run)')
      .replaceAll(this.#options.dataFolder, '(data)');
    return sandboxErrors[isCauseCode(code) ? code : 'RUNTIME_FAILED']({ details: { reason }, cause: error });
  }
}
