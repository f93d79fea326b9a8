import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@svc/telemetry';
import { runTool } from '../../../images/run-tool.ts';
import { findProgram } from '../requirements.ts';
import { RUNSC_FLAGS } from '../runtime.ts';

const TRIAL_LIMIT_MS = 20_000;

/**
 * gVisor's OCI runtime on this machine. `fault` explains in a few words for people, without paths, why it cannot start
 * sandboxes. With a failed trial, `path` still serves running sandboxes: the machine may only be short of resources.
 */
export type Runsc =
  | { readonly path: string; readonly fault: null }
  | { readonly path: string; readonly fault: string }
  | { readonly path: null; readonly fault: string };

/**
 * Looks at the configured path, else in the system's folders. The runtime must pass a trial run first; otherwise, every
 * sandbox would fail.
 */
export async function findRunsc(
  configured: string | null,
  log: Logger,
  { trialLimitMs = TRIAL_LIMIT_MS }: { trialLimitMs?: number } = {},
): Promise<Runsc> {
  const path = configured === null ? findProgram('runsc') : executable(configured);
  if (path === null) {
    if (configured === null) return { path, fault: 'runsc is not installed' };
    log.warn({ path: configured }, 'sandboxes.runsc names no program: gVisor is off');
    return { path, fault: 'sandboxes.runsc names no program' };
  }
  const signal = AbortSignal.timeout(trialLimitMs);
  try {
    await tryRunsc(path, signal);
    return { path, fault: null };
  } catch (error) {
    log.warn({ err: error, path }, 'runsc cannot run a program on this machine: gVisor is off');
    const fault = signal.aborted ? `did not end its trial run within ${trialLimitMs / 1000} s` : 'fails its trial run';
    return { path, fault: `runsc ${fault}; the log of the platform says more` };
  }
}

/** Runs one program with the flags of sandboxes; without network, because it has no interface. */
async function tryRunsc(path: string, signal: AbortSignal): Promise<void> {
  const state = await mkdtemp(join(tmpdir(), 'svc-runsc-'));
  try {
    const flags = [...RUNSC_FLAGS.filter((flag) => !flag.startsWith('--network')), '--network=none'];
    await runTool(path, ['--root', state, ...flags, 'do', '/bin/true'], { signal });
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
