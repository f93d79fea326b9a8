import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type AppError, isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import { AgentConnection } from '../../agent/agent-connection.ts';
import { isCauseCode, sandboxErrors } from '../../errors.ts';
import type { ImageStore, PreparedImage } from '../../images/image-store.ts';
import { runTool } from '../../images/run-tool.ts';
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
import { installAgentBinary } from './agent-binary.ts';
import { DiskTemplates } from './disk-template.ts';
import { imagesInUse, readKept, type KeptSandbox } from './kept-sandbox.ts';
import { firewallRules } from './firewall-rules.ts';
import { LauncherFailure, LauncherProcess } from './launcher-process.ts';
import { hostNameservers } from './nameservers.ts';
import { ociConfig } from './oci-config.ts';
import { findProgram, installCommand, missingRequirements } from './requirements.ts';

export interface LocalDriverOptions {
  /** Disks and what was made of each sandbox; kept. */
  readonly dataFolder: string;
  /** Sockets and bundles; in memory, short, and the same at every start on the same data. */
  readonly runFolder: string;
  /** Folder of the helper's binaries and their SHA256SUMS. */
  readonly agentFolder: string;
  readonly images: ImageStore;
  readonly runtime: 'auto' | 'crun' | 'runc';
  /** The first two numbers of the IPv4 range (a /16) that sandboxes get addresses from, such as `100.96`. */
  readonly addressPrefix: string;
  /** Resolvers for sandboxes; those of the host when empty. */
  readonly nameservers: readonly string[];
  readonly log: Logger;
}

/** Ids inside of a sandbox are mapped to 65,536 ids of its own here, far above those of people and services. */
const FIRST_UID = 0x1000_0000;
const UIDS_PER_SANDBOX = 65_536;

interface Machine {
  readonly runtime: string;
  readonly runtimeKind: 'crun' | 'runc';
  readonly agentFile: string;
  readonly launcher: LauncherProcess;
  readonly templates: DiskTemplates;
  readonly nft: string;
  readonly nameservers: readonly string[];
  readonly guardedInterfaces: readonly string[];
}

/** Sandboxes on this machine: OCI bundles run by crun or runc, through the launcher. */
export class LocalDriver implements SandboxDriver {
  readonly name = 'local';
  readonly #options: LocalDriverOptions;
  #machine: Machine | null = null;
  #status: DriverStatus = { available: false, reason: 'not started', install: null };

  constructor(options: LocalDriverOptions) {
    this.#options = options;
  }

  async open(): Promise<DriverStatus> {
    try {
      this.#status = await this.#prepareMachine();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#status = { available: false, reason, install: null };
    }
    return this.#status;
  }

  status(): DriverStatus {
    return this.#status;
  }

  supports(isolation: Isolation): boolean {
    return isolation === 'default';
  }

  async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const { templates } = this.#need();
    signal.throwIfAborted();
    if ((await this.#kept(spec.id)) !== null) return;
    const image = await this.#options.images.claim(spec.id, spec.image, signal);
    await templates.ofSize(spec.resources.diskMb);
    const folder = this.#folder(spec.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const kept: KeptSandbox = { digest: image.digest };
    const file = join(folder, 'sandbox.json');
    await writeFile(`${file}.new`, JSON.stringify(kept), { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const machine = this.#need();
    const kept = await this.#kept(spec.id);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    const image = await this.#options.images.byDigest(kept.digest);
    if (image === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    const template = await machine.templates.ofSize(spec.resources.diskMb);
    signal.throwIfAborted();
    await this.#call('start', spec.id, { plan: this.#plan(machine, spec, image, template) });
  }

  async adjust(spec: SandboxSpec): Promise<void> {
    const { nameservers } = this.#need();
    const { 'etc/resolv.conf': _same, ...files } = firstFiles(spec, nameservers);
    await this.#call('adjust', spec.id, { hostname: spec.hostname, limits: limitsOf(spec), files });
  }

  imageVersion(image: string): Promise<string | null> {
    return this.#options.images.digestOf(image);
  }

  async connect(id: string, signal: AbortSignal): Promise<AgentConnection> {
    this.#need();
    assertSandboxId(id);
    try {
      return await AgentConnection.open(join(this.#options.runFolder, 'sandboxes', id, 'agent.sock'), signal);
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
      oomKills: count('oom_kills'),
    };
  }

  async pause(id: string): Promise<void> {
    await this.#call('pause', id);
  }

  async resume(id: string): Promise<void> {
    await this.#call('resume', id);
  }

  async stop(id: string, graceMs: number): Promise<void> {
    await this.#call('stop', id, { timeout_ms: graceMs });
  }

  async remove(id: string): Promise<void> {
    await this.#call('clean', id);
    await rm(this.#folder(id), { recursive: true, force: true });
    await this.#options.images.release(id);
  }

  async list(): Promise<readonly FoundSandbox[]> {
    const { sandboxes } = fields(await this.#call('list', ''));
    const found = new Map<string, FoundSandbox>();
    for (const name of await readdir(join(this.#options.dataFolder, 'disks'))) {
      found.set(name, { id: name, running: false, paused: false });
    }
    for (const each of Array.isArray(sandboxes) ? sandboxes.map(fields) : []) {
      const id = String(each['sandbox']);
      found.set(id, { id, running: each['alive'] === true, paused: each['paused'] === true });
    }
    return [...found.values()];
  }

  async close(): Promise<void> {
    const machine = this.#machine;
    this.#machine = null;
    this.#status = { available: false, reason: 'closed', install: null };
    await machine?.launcher.close();
    if (machine !== null) await this.#removeRunFolder();
  }

  /** Where sandboxes run on it stays: it is how the next start finds them. */
  async #removeRunFolder(): Promise<void> {
    const { runFolder } = this.#options;
    const left = await readdir(join(runFolder, 'sandboxes'));
    if (left.length === 0) await rm(runFolder, { recursive: true, force: true });
  }

  async #prepareMachine(): Promise<DriverStatus> {
    const unavailable = (reason: string, install: string | null): DriverStatus => ({
      available: false,
      reason,
      install,
    });
    if (process.platform !== 'linux') return unavailable('sandboxes need Linux', null);
    if (process.getuid?.() !== 0) return unavailable('sandboxes need root; start svc with sudo', null);
    const missing = missingRequirements();
    if (missing.length > 0) {
      const names = missing.map((each) => each.command).join(', ');
      return unavailable(`missing programs: ${names}`, installCommand(missing));
    }
    const { dataFolder, runFolder, agentFolder, log } = this.#options;
    const runtime = this.#findRuntime();
    if (runtime === null) return unavailable(`${this.#options.runtime} is not installed`, 'apt-get install -y crun');
    await mkdir(join(dataFolder, 'disks'), { recursive: true, mode: 0o700 });
    await this.#options.images.declare(await imagesInUse(dataFolder), { exactly: true });
    const agentFile = await installAgentBinary(agentFolder, runFolder, process.arch);
    const launcher = new LauncherProcess({ binary: agentFile, runFolder, log });
    const facts = await launcher.ready();
    const forwarding = await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8');
    const { nameservers } = this.#options;
    this.#machine = {
      runtime: runtime.path,
      runtimeKind: runtime.kind,
      agentFile,
      launcher,
      templates: new DiskTemplates(join(dataFolder, 'templates'), program('mkfs.ext4')),
      nft: program('nft'),
      nameservers: nameservers.length > 0 ? nameservers : await hostNameservers(),
      guardedInterfaces:
        forwarding.trim() === '1' ? [] : Object.keys(networkInterfaces()).filter((name) => name !== 'lo'),
    };
    const version = await runTool(runtime.path, ['--version'], { signal: AbortSignal.timeout(5000) });
    return {
      available: true,
      details: {
        runtime: version.split('\n')[0]?.trim() ?? runtime.kind,
        cgroups: facts.cgroups,
        nameservers: this.#machine.nameservers,
      },
    };
  }

  #findRuntime(): { path: string; kind: 'crun' | 'runc' } | null {
    const wanted = this.#options.runtime === 'auto' ? (['crun', 'runc'] as const) : [this.#options.runtime];
    for (const kind of wanted) {
      const path = findProgram(kind);
      if (path !== null) return { path, kind };
    }
    return null;
  }

  #plan(machine: Machine, spec: SandboxSpec, image: PreparedImage, template: string): Record<string, unknown> {
    return {
      runtime: machine.runtime,
      runtime_kind: machine.runtimeKind,
      layers: image.layers,
      disk: join(this.#folder(spec.id), 'disk.img'),
      disk_template: template,
      files: firstFiles(spec, machine.nameservers),
      limits: limitsOf(spec),
      uid_base: FIRST_UID,
      uid_count: UIDS_PER_SANDBOX,
      network: {
        mode: spec.network,
        network: `${this.#options.addressPrefix}.0.0`,
        gateway: `${this.#options.addressPrefix}.0.1`,
        nft: machine.nft,
        rules: firewallRules({
          nameservers: machine.nameservers,
          range: `${this.#options.addressPrefix}.0.0/16`,
          guardedInterfaces: machine.guardedInterfaces,
        }),
      },
      config: ociConfig(spec, {
        runtimeKind: machine.runtimeKind,
        image: image.settings,
        agentFile: machine.agentFile,
        architecture: process.arch === 'arm64' ? 'arm64' : 'x64',
        cgroupsPath: `/svc-sandboxes/${spec.id}`,
      }),
    };
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
    if (sandbox !== '') assertSandboxId(sandbox); // '' stands for no single one
    try {
      return await launcher.call(op, { sandbox, ...parameters });
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Paths of this machine mean nothing to a caller; the log has them. */
  #translate(error: unknown): AppError {
    if (isAppError(error)) return error;
    const code = error instanceof LauncherFailure ? error.code : 'RUNTIME_FAILED';
    const reason = (error instanceof Error ? error.message : String(error))
      .replaceAll(this.#options.runFolder, '(run)')
      .replaceAll(this.#options.dataFolder, '(data)');
    return sandboxErrors[isCauseCode(code) ? code : 'RUNTIME_FAILED']({ details: { reason }, cause: error });
  }
}

function limitsOf({ resources }: SandboxSpec): Record<string, number> {
  return {
    memory_bytes: resources.memoryMb * 1024 * 1024,
    pids: resources.pids,
    cpu_millis: resources.cpuMillis,
  };
}

function firstFiles(spec: SandboxSpec, nameservers: readonly string[]): Record<string, string> {
  return {
    'etc/hostname': `${spec.hostname}\n`,
    'etc/hosts': `127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 ${spec.hostname}\n`,
    'etc/resolv.conf':
      spec.network === 'egress' ? nameservers.map((address) => `nameserver ${address}\n`).join('') : '',
  };
}

function program(name: string): string {
  const path = findProgram(name);
  if (path === null) throw new Error(`${name} is not installed`);
  return path;
}

/** The launcher's answers are JSON objects of our own making. */
function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
