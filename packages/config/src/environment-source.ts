import type { ConfigKey } from './config-key.ts';
import type { Assignment, ConfigFault, Origin } from './fault.ts';
import { nearest } from './nearest.ts';
import { readText } from './text-value.ts';
import type { SourceResult } from './yaml-source.ts';

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a small text file; throws file system errors. */
export type ReadTextFile = (path: string) => string;

interface Given {
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
}

/**
 * Reads the variables of all keys. Empty variables count as unset, as composed environments leave them. A secret can be
 * read from the file named by `NAME_FILE`; one trailing line break is dropped.
 */
export function readEnvironment(
  environment: Environment,
  keys: readonly ConfigKey[],
  readTextFile: ReadTextFile,
): SourceResult & { readonly warnings: readonly string[] } {
  const assignments = new Map<string, Assignment>();
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  for (const key of keys) {
    const given = key.environmentNames.flatMap((name) => givenBy(name, key, environment, readTextFile, faults));
    const [first, ...others] = given;
    if (first === undefined) continue;
    for (const other of others) {
      if (other.text !== first.text) warnings.push(`${other.name} is not used, since ${first.name} is set as well`);
    }
    const outcome = readText(key.node, first.text);
    if ('value' in outcome) assignments.set(key.path, { value: outcome.value, origin: first.origin });
    else faults.push({ path: key.path, message: `must be ${outcome.expected}`, origin: first.origin });
  }
  return { assignments, faults, warnings };
}

/**
 * Returns variables that look like typos of ours. Others with our prefix are ignored: Kubernetes sets
 * `SVC_PORT_4000_TCP` and the like for a Service named `svc`.
 */
export function mistypedVariables(environment: Environment, keys: readonly ConfigKey[], prefix: string): string[] {
  const known = new Set(
    keys.flatMap((key) => key.environmentNames.flatMap((name) => (key.secret ? [name, `${name}_FILE`] : [name]))),
  );
  const warnings: string[] = [];
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(`${prefix}_`) || known.has(name)) continue;
    const meant = nearest(name, known, 2);
    if (meant !== null) warnings.push(`${name} is not a known variable; did you mean ${meant}?`);
  }
  return warnings;
}

function givenBy(
  name: string,
  key: ConfigKey,
  environment: Environment,
  readTextFile: ReadTextFile,
  faults: ConfigFault[],
): Given[] {
  const given: Given[] = [];
  const text = environment[name] ?? '';
  if (text !== '') given.push({ name, text, origin: { source: 'environment', where: name } });
  const file = key.secret ? (environment[`${name}_FILE`] ?? '') : '';
  if (file === '') return given;
  const origin: Origin = { source: 'file', where: `${name}_FILE=${file}` };
  if (given.length > 0) {
    faults.push({ path: key.path, message: `is given twice, by ${name} and ${name}_FILE`, origin });
    return given;
  }
  try {
    return [{ name: `${name}_FILE`, text: readTextFile(file).replace(/\r?\n$/, ''), origin }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    faults.push({ path: key.path, message: `cannot be read: ${reason}`, origin });
    return [];
  }
}
