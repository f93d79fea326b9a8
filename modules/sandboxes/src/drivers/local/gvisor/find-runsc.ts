import { accessSync, constants } from 'node:fs';
import type { Logger } from '@svc/telemetry';
import { findProgram } from '../requirements.ts';
import type { Runtime } from '../runtime.ts';

/** gVisor's OCI runtime: where the configuration says, else in the system's folders; null when it is not there. */
export function findRunsc(configured: string | null, log: Logger): Runtime | null {
  const path = configured === null ? findProgram('runsc') : executable(configured);
  if (configured !== null && path === null) {
    log.warn({ path: configured }, 'sandboxes.runsc names no program: sandboxes of isolation gvisor are refused');
  }
  return path === null ? null : { kind: 'runsc', path };
}

function executable(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
