import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@svc/telemetry';
import { runTool } from '../../../images/run-tool.ts';
import { findProgram } from '../requirements.ts';
import type { Runtime } from '../runtime.ts';
import { RUNSC_FLAGS } from './runsc-config.ts';

const TRIAL_LIMIT_MS = 20_000;

/**
 * gVisor's OCI runtime: where the configuration says, else in the system's folders. Null when it is not there, or cannot run
 * a program on this machine: sandboxes must not be told apart from those that work by failing one after the other.
 */
export async function findRunsc(configured: string | null, log: Logger): Promise<Runtime | null> {
  const path = configured === null ? findProgram('runsc') : executable(configured);
  if (path === null) {
    if (configured !== null) log.warn({ path: configured }, 'sandboxes.runsc names no program: gVisor is off');
    return null;
  }
  try {
    await tryRunsc(path);
    return { kind: 'runsc', path };
  } catch (error) {
    log.warn({ err: error, path }, 'runsc cannot run a program on this machine: gVisor is off');
    return null;
  }
}

/** One program with nothing but the flags that sandboxes have; no network, since it has no interface. */
async function tryRunsc(path: string): Promise<void> {
  const state = await mkdtemp(join(tmpdir(), 'svc-runsc-'));
  try {
    const flags = [...RUNSC_FLAGS.filter((flag) => !flag.startsWith('--network')), '--network=none'];
    await runTool(path, ['--root', state, ...flags, 'do', '/bin/true'], {
      signal: AbortSignal.timeout(TRIAL_LIMIT_MS),
    });
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
