import type { ConfigKey } from './config-key.ts';
import type { Assignment, ConfigFault, Origin } from './fault.ts';
import { readText } from './text-value.ts';
import type { SourceResult } from './yaml-source.ts';

/** A command-line option and the key it sets. Text is parsed by the key's type; `undefined` means not set. */
export interface FlagValue {
  /** As typed: `--port`. */
  readonly flag: string;
  readonly path: string;
  readonly value: unknown;
}

/** Throws if a flag names a key that the schema lacks, a bug in the command. */
export function readFlags(flags: readonly FlagValue[], keys: readonly ConfigKey[]): SourceResult {
  const assignments = new Map<string, Assignment>();
  const faults: ConfigFault[] = [];
  for (const { flag, path, value } of flags) {
    if (value === undefined) continue;
    const key = keys.find((candidate) => candidate.path === path);
    if (key === undefined) throw new Error(`${flag} sets ${path}, which is no key of the schema`);
    const origin: Origin = { source: 'flag', where: flag };
    const outcome = typeof value === 'string' ? readText(key.node, value) : { value };
    if ('value' in outcome) assignments.set(path, { value: outcome.value, origin });
    else faults.push({ path, message: `must be ${outcome.expected}`, origin });
  }
  return { assignments, faults };
}
