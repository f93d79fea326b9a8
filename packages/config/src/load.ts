import { readFileSync } from 'node:fs';
import type { Static, TObject } from 'typebox';
import { configKeys, nodeOf, type ConfigKey } from './config-key.ts';
import { mistypedVariables, readEnvironment, type Environment, type ReadTextFile } from './environment-source.ts';
import { ConfigError, type Assignment, type ConfigFault, type Origin } from './fault.ts';
import { readFlags, type FlagValue } from './flag-source.ts';
import { closedSchema, deepFreeze, withDefaults } from './schema-tree.ts';
import { validateValue } from './validate.ts';
import { readYaml, type SourceResult } from './yaml-source.ts';

/** The schema and the sources of a configuration. */
export interface LoadConfigOptions<Schema extends TObject> {
  schema: Schema;
  /** YAML files; later ones take precedence. Each must exist. */
  files?: readonly string[];
  environment?: Environment;
  /** With `SVC`, the key `http.port` is also `SVC_HTTP_PORT`. If absent, only the schema's `env` names apply. */
  environmentPrefix?: string;
  flags?: readonly FlagValue[];
  /** Rules across several keys, checked after each key is valid on its own. */
  check?: (config: Static<Schema>) => readonly { path: string; message: string }[];
  readTextFile?: ReadTextFile;
}

/** A loaded configuration with the origin of every value. */
export interface LoadedConfig<Config> {
  /** Complete, validated and frozen. */
  readonly value: Config;
  readonly keys: readonly ConfigKey[];
  /** By dotted path; keys without a value are missing. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Suspicious but valid settings, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Loads the configuration: defaults < YAML < environment < flags. Throws one `ConfigError` with every fault of every
 * source.
 */
export function loadConfig<Schema extends TObject>(options: LoadConfigOptions<Schema>): LoadedConfig<Static<Schema>> {
  const { schema, environment = {}, environmentPrefix, readTextFile = readUtf8 } = options;
  const keys = configKeys(schema, environmentPrefix);
  const fromEnvironment = readEnvironment(environment, keys, readTextFile);
  const sources: SourceResult[] = [
    ...(options.files ?? []).map((file) => readYamlFile(file, schema, keys, readTextFile)),
    fromEnvironment,
    readFlags(options.flags ?? [], keys),
  ];
  const faults = sources.flatMap((source) => source.faults);
  const assigned = new Map(sources.flatMap((source) => [...source.assignments]));
  const unreadable = new Set(faults.map((fault) => fault.path));
  const { tree, origins } = assemble(keys, assigned, unreadable, faults);
  if (faults.length > 0) throw new ConfigError(faults);
  const value = deepFreeze(tree) as Static<Schema>; // every key was validated against its own schema
  const broken = (options.check?.(value) ?? []).map((fault) => {
    return { ...fault, origin: origins.get(fault.path) ?? null };
  });
  if (broken.length > 0) throw new ConfigError(broken);
  const mistyped = environmentPrefix === undefined ? [] : mistypedVariables(environment, keys, environmentPrefix);
  return { value, keys, origins, warnings: [...fromEnvironment.warnings, ...mistyped] };
}

interface Assembly {
  readonly tree: Record<string, unknown>;
  readonly origins: Map<string, Origin>;
}

function assemble(
  keys: readonly ConfigKey[],
  assigned: ReadonlyMap<string, Assignment>,
  unreadable: ReadonlySet<string>,
  faults: ConfigFault[],
): Assembly {
  const tree: Record<string, unknown> = {};
  const origins = new Map<string, Origin>();
  const wanted = wantedSections(keys, assigned);
  for (const key of keys) {
    if (unreadable.has(key.path) || key.optionalSections.some((section) => !wanted.has(section))) continue;
    const assignment = assigned.get(key.path) ?? readDefault(key);
    createSections(tree, key.segments);
    if (assignment === null) {
      if (key.required) faults.push({ path: key.path, message: `is required${howToSet(key)}`, origin: null });
      continue;
    }
    const node = closedSchema(key.node);
    const complete = { ...assignment, value: withDefaults(node, assignment.value) };
    faults.push(...validateValue({ ...key, node }, complete));
    setAt(tree, key.segments, complete.value);
    origins.set(key.path, complete.origin);
  }
  return { tree, origins };
}

/** An optional section exists once any source sets one of its keys; its other keys then use their defaults. */
function wantedSections(keys: readonly ConfigKey[], assigned: ReadonlyMap<string, Assignment>): Set<string> {
  return new Set(keys.flatMap((key) => (assigned.has(key.path) ? key.optionalSections : [])));
}

function readDefault(key: ConfigKey): Assignment | null {
  if (key.node.default === undefined) return null;
  return { value: structuredClone(key.node.default), origin: { source: 'default', where: 'default' } };
}

function howToSet(key: ConfigKey): string {
  const name = key.environmentNames[0];
  return name === undefined ? '' : `; set it in the file or by ${name}`;
}

function createSections(tree: Record<string, unknown>, segments: readonly string[]): Record<string, unknown> {
  return segments.slice(0, -1).reduce<Record<string, unknown>>((section, name) => {
    section[name] ??= {};
    return section[name] as Record<string, unknown>; // only this function adds sections
  }, tree);
}

function setAt(tree: Record<string, unknown>, segments: readonly string[], value: unknown): void {
  createSections(tree, segments)[segments.at(-1) ?? ''] = value;
}

function readYamlFile(
  file: string,
  schema: TObject,
  keys: readonly ConfigKey[],
  readTextFile: ReadTextFile,
): SourceResult {
  try {
    const paths = keys.map((key) => key.path);
    return readYaml(file, readTextFile(file), nodeOf(schema), paths);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fault = {
      path: '',
      message: `the file cannot be read: ${reason}`,
      origin: { source: 'yaml', where: file },
    } as const;
    return { assignments: new Map(), faults: [fault] };
  }
}

function readUtf8(path: string): string {
  return readFileSync(path, 'utf8');
}
