import { runTool } from '../../images/run-tool.ts';
import { findProgram } from './requirements.ts';

/**
 * `builtin`: our own helper sets up the inside of a sandbox. crun and runc are OCI runtimes of the distribution. runsc
 * is gVisor's, for sandboxes that request it.
 */
export type RuntimeKind = 'builtin' | 'crun' | 'runc' | 'runsc';

/**
 * - `platform`: needs no KVM.
 * - `ignore-cgroups`: the launcher starts it inside the sandbox's group.
 * - `overlay2`: writes files to the sandbox's disk instead of an overlay that ends with the process.
 * - `network`: gVisor's own stack on the sandbox's interface, never the host's.
 */
export const RUNSC_FLAGS: readonly string[] = [
  '--platform=systrap',
  '--ignore-cgroups',
  '--overlay2=none',
  '--network=sandbox',
];

/** Flags before the command, on each call. */
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

/** `auto` selects the first one available. Returns null if the requested one is not installed. */
export function findRuntime(wanted: 'auto' | RuntimeKind): Runtime | null {
  for (const kind of wanted === 'auto' ? (['builtin'] as const) : [wanted]) {
    const path = kind === 'builtin' ? '' : findProgram(kind);
    if (path !== null) return { kind, path };
  }
  return null;
}

/** Describes the runtime for people. */
export async function describeRuntime({ kind, path }: Runtime): Promise<string> {
  if (kind === 'builtin') return 'builtin';
  const version = await runTool(path, ['--version'], { signal: AbortSignal.timeout(5000) });
  return version.split('\n')[0]?.trim() ?? kind;
}
