import { runTool } from '../../images/run-tool.ts';
import { findProgram } from './requirements.ts';

/** `builtin`: our own helper makes the inside of a sandbox; crun and runc are OCI runtimes of the distribution. */
export type RuntimeKind = 'builtin' | 'crun' | 'runc';

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
