import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { SandboxesConfig } from '@svc/sandboxes';
import type { SandboxDriver, SandboxSpec } from '@svc/sandboxes/testing/driver';
import type { ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { TRANSFER_WINDOW_BYTES } from '@svc/sandboxes/testing/frames';
import type { HelperConnection } from '@svc/sandboxes/testing/helper-connection';
import { runInSandbox, type RunResult } from '@svc/sandboxes/testing/run-in-sandbox';
import type { BuiltProbe } from './build-probe.ts';
import type { Outcome } from './outcome.ts';
import type { Outside } from './outside.ts';
import { openPlatform, type PlatformGround } from './platform-ground.ts';

export interface Sandbox {
  readonly spec: SandboxSpec;
  readonly connection: HelperConnection;
  probe(...args: string[]): Promise<Outcome>;
  /** Runs a script as root, or as another user of the sandbox. */
  shell(script: string, user?: string): Promise<RunResult>;
}

/** A driver, and the settings with which the module uses the same kind of driver. */
export interface EscapeSubject extends ContractSubject {
  readonly config: Partial<SandboxesConfig>;
}

/** The environment of the cases: a driver's sandboxes, this host, and a neighbor. */
export interface Ground {
  readonly driver: SandboxDriver;
  readonly outside: Outside;
  /** A sandbox with the probe in it; the same one for the same name. */
  sandbox(name: string, changes?: Partial<SandboxSpec>): Promise<Sandbox>;
  /** Runs the probe in new namespaces on this host, with all privileges that a sandbox lacks. */
  free(...args: string[]): Promise<Outcome>;
  /** Runs the probe directly on this host. */
  host(...args: string[]): Promise<Outcome>;
  /** The module with its API and SSH listener over a driver of its own; started at the first call. */
  platform(): Promise<PlatformGround>;
  close(): Promise<void>;
}

const LIMIT_MS = 60_000;
const PROBE = '/root/probe';
const NAMESPACES = ['--mount', '--pid', '--fork', '--net', '--uts', '--ipc', '--mount-proc'];

export function groundOf({ driver, spec: specOf, config }: EscapeSubject, outside: Outside, probe: BuiltProbe): Ground {
  const sandboxes = new Map<string, Promise<Sandbox>>();
  let platform: Promise<PlatformGround> | null = null;
  return {
    driver,
    outside,
    sandbox(name, changes = {}) {
      const spec: SandboxSpec = { ...specOf(`${name}-${process.pid}`), network: 'egress', ...changes };
      const found = sandboxes.get(name) ?? openSandbox(driver, spec, probe.file);
      sandboxes.set(name, found);
      return found;
    },
    free: (...args) => run('unshare', [...NAMESPACES, probe.file, ...args]),
    host: (...args) => run(probe.file, args),
    platform: () => (platform ??= openPlatform(config, probe.file)),
    async close() {
      await (await platform?.catch(() => null))?.close(); // a failed start is reported by its case
      for (const each of await Promise.allSettled(sandboxes.values())) {
        if (each.status === 'rejected') continue; // reported by its case; the driver's owner removes what is left
        await each.value.connection.close();
        await driver.remove(each.value.spec.id);
      }
    },
  };
}

async function openSandbox(driver: SandboxDriver, spec: SandboxSpec, probe: string): Promise<Sandbox> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  await driver.create(spec, signal);
  await driver.start(spec, signal);
  const connection = await driver.connect(spec.id, signal);
  const upload = connection.start(
    { op: 'file.write', path: PROBE, mode: 0o755 },
    { inputWindowBytes: TRANSFER_WINDOW_BYTES },
  );
  await upload.write(await readFile(probe));
  upload.finishInput();
  const uploaded = await upload.outcome;
  if (!uploaded.ok) throw new Error(`the probe was not taken: ${uploaded.message}`);
  return {
    spec,
    connection,
    probe: async (...args) => {
      const { exitCode, stdout, stderr, failure } = await runInSandbox(connection, [PROBE, ...args]);
      return { done: exitCode === 0, detail: failure ?? `${stdout}${stderr}`.trim() };
    },
    shell: (script, user) => runInSandbox(connection, ['sh', '-c', script], user === undefined ? {} : { user }),
  };
}

function run(command: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: '/', timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({ done: error === null, detail: `${stdout}${stderr}`.trim() });
    });
  });
}
