import { runTool } from '../../images/run-tool.ts';
import { RUNSC_FLAGS } from './gvisor/runsc-config.ts';
import { findProgram } from './requirements.ts';

/**
 * `builtin`: our own helper makes the inside of a sandbox; crun and runc are OCI runtimes of the distribution; runsc is
 * gVisor's, for those that ask for it.
 */
export type RuntimeKind = 'builtin' | 'crun' | 'runc' | 'runsc';

/** Before the command, on each call. */
export const RUNTIME_FLAGS: Readonly<Record<RuntimeKind, readonly string[]>> = {
  builtin: [],
  crun: ['--cgroup-manager=disabled'],
  runc: [],
  runsc: RUNSC_FLAGS,
};

export interface Runtime {
  readonly kind: RuntimeKind;
  /** Empty for `builtin`. */
  readonly path: string;
}

/** `auto`: the first that is here. Null when what is wanted is not installed. */
export function findRuntime(wanted: 'auto' | RuntimeKind): Runtime | null {
  for (const kind of wanted === 'auto' ? (['builtin'] as const) : [wanted]) {
    const path = kind === 'builtin' ? '' : findProgram(kind);
    if (path !== null) return { kind, path };
  }
  return null;
}

/** For people. */
export async function describeRuntime({ kind, path }: Runtime): Promise<string> {
  if (kind === 'builtin') return 'builtin';
  const version = await runTool(path, ['--version'], { signal: AbortSignal.timeout(5000) });
  return version.split('\n')[0]?.trim() ?? kind;
}
