import { hash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { HelperBinaries, HelperBinary } from '@svc/helper-binary';
import { replaceFile } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { DriverStatus } from '../../../domain/driver.ts';
import { runTool } from '../../images/run-tool.ts';
import { DiskTemplates } from './disk-template.ts';
import { findRunsc, type Runsc } from './gvisor/find-runsc.ts';
import { firewallTable, withoutTable } from './firewall-rules.ts';
import { LauncherProcess } from './launcher-process.ts';
import { hostNameservers } from './nameservers.ts';
import { findProgram, installCommand, missingRequirements } from './requirements.ts';
import { machineArchitecture, seccompProfile } from './seccomp-profile.ts';
import { describeRuntime, findRuntime, type Runtime, type RuntimeKind } from './runtime.ts';

const NFT_LIMIT_MS = 10_000;

export interface MachineOptions {
  readonly dataFolder: string;
  readonly runFolder: string;
  readonly helperBinaries: HelperBinaries;
  readonly runtime: 'auto' | RuntimeKind;
  readonly runsc: string | null;
  readonly nameservers: readonly string[];
  readonly log: Logger;
}

/** The machine's capabilities for sandboxes, determined once. */
export interface Machine {
  readonly runtime: Runtime;
  /** For `isolation: gvisor`. */
  readonly gvisor: Runsc;
  readonly helperFile: string;
  /** Has the seccomp profile of sandboxes without an OCI runtime. */
  readonly seccompFile: string;
  readonly launcher: LauncherProcess;
  readonly templates: DiskTemplates;
  readonly nft: string;
  readonly nameservers: readonly string[];
  /** Interfaces of a host that did not forward when this process started. */
  readonly guardedInterfaces: readonly string[];
  /** Tells the network interfaces of this platform's sandboxes from those of other platforms on the machine. */
  readonly interfaceGroup: number;
}

export type MachineOutcome =
  | { readonly machine: Machine; readonly status: DriverStatus }
  | { readonly machine: null; readonly status: DriverStatus };

/** Starts the launcher if all requirements are met; otherwise reports what is missing. */
export async function prepareMachine(options: MachineOptions): Promise<MachineOutcome> {
  const lacking = whatLacks();
  if (lacking !== null) return lacking;
  const runtime = findRuntime(options.runtime);
  if (runtime === null)
    return unavailable(`${options.runtime} is not installed`, `apt-get install -y ${options.runtime}`);
  const { dataFolder, runFolder, helperBinaries, nameservers, log } = options;
  const helperFile = await installProgram(await helperBinaries(process.arch), runFolder, 'agent');
  await mkdir(join(dataFolder, 'disks'), { recursive: true, mode: 0o700 });
  const templates = new DiskTemplates(join(dataFolder, 'templates'), program('mkfs.ext4'));
  await templates.open();
  const launcher = new LauncherProcess({ binary: helperFile, runFolder, log });
  const facts = await launcher.ready();
  const forwarding = await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8');
  const machine: Machine = {
    runtime,
    gvisor: await findRunsc(options.runsc, log),
    helperFile,
    seccompFile: await installSeccompProfile(runFolder),
    launcher,
    templates,
    nft: program('nft'),
    nameservers: nameservers.length > 0 ? nameservers : await hostNameservers(),
    guardedInterfaces:
      forwarding.trim() === '1' ? [] : Object.keys(networkInterfaces()).filter((name) => name !== 'lo'),
    interfaceGroup: interfaceGroup(runFolder),
  };
  const details = {
    runtime: await describeRuntime(runtime),
    cgroups: facts.cgroups,
    nameservers: machine.nameservers,
    gvisor: machine.gvisor.fault === null,
  };
  return { machine, status: { available: true, details } };
}

/**
 * Copies a program to where other ids can read it, because the project folder may be inside a private home directory. Returns
 * the path. Several sandboxes may need the program at once.
 */
export async function installProgram(helper: HelperBinary, runFolder: string, name: string): Promise<string> {
  await mkdir(runFolder, { recursive: true, mode: 0o711 });
  const target = join(runFolder, `${name}-${helper.sha256.slice(0, 16)}`);
  const isThere = await stat(target).then(
    () => true,
    () => false,
  );
  if (isThere) return target;
  const folder = await mkdtemp(`${target}.`);
  try {
    const copy = join(folder, name);
    await copyFile(helper.file, copy);
    await chmod(copy, 0o755);
    await rename(copy, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return target;
}

/** For a platform without sandboxes. A table that could not be removed matches nothing. */
export async function removeFirewall({ nft, interfaceGroup: group }: Machine, log: Logger): Promise<void> {
  const input = withoutTable(firewallTable(group));
  await runTool(nft, ['-f', '-'], { input, signal: AbortSignal.timeout(NFT_LIMIT_MS) }).catch((error: unknown) =>
    log.warn({ error }, 'the firewall table was not removed'),
  );
}

/** The same after a restart, when sandboxes are still running. Never 0, the group of all other interfaces. */
function interfaceGroup(runFolder: string): number {
  return Number.parseInt(hash('sha256', runFolder).slice(0, 7), 16) + 1;
}

/** The name of the file depends on its content, so that the launcher can keep the compiled filter by name. */
async function installSeccompProfile(runFolder: string): Promise<string> {
  const content = JSON.stringify(seccompProfile(machineArchitecture()));
  const target = join(runFolder, `seccomp-${hash('sha256', content).slice(0, 16)}.json`);
  await replaceFile(target, content, { durable: false }); // written again at each start
  return target;
}

function whatLacks(): MachineOutcome | null {
  if (process.platform !== 'linux') return unavailable('sandboxes need Linux', null);
  if (process.getuid?.() !== 0) return unavailable('sandboxes need root; start svc with sudo', null);
  const missing = missingRequirements();
  if (missing.length === 0) return null;
  const names = missing.map((each) => each.command).join(', ');
  return unavailable(`missing programs: ${names}`, installCommand(missing));
}

function unavailable(reason: string, install: string | null): MachineOutcome {
  return { machine: null, status: { available: false, reason, install } };
}

function program(name: string): string {
  const path = findProgram(name);
  if (path === null) throw new Error(`${name} is not installed`);
  return path;
}
