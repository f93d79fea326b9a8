import type { TObject, TSchema } from 'typebox';

/**
 * What our schemas say beyond JSON Schema, as ordinary TypeBox options:
 *
 *     Type.String({ description: '…', secret: true, env: 'SVC_MASTER_KEY' })
 *
 * `secret` values are redacted wherever they are shown and may come from a file (`SVC_MASTER_KEY_FILE`). `env` names
 * further environment variables, most wanted first, besides the one that follows from the path.
 */
export interface ConfigAnnotations {
  secret?: boolean;
  env?: string | readonly string[];
}

/** The part of JSON Schema that this package reads. */
export interface SchemaNode extends ConfigAnnotations {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
}

/** One value that can be configured: a leaf of the sections. Lists and maps are one value. */
export interface ConfigKey {
  /** Dotted, as it is shown: `object_store.soft_delete.days`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly node: SchemaNode;
  readonly required: boolean;
  readonly secret: boolean;
  /** In order of preference; the one that follows from the path stands last. */
  readonly environmentNames: readonly string[];
  /** Sections above that may be absent as a whole, as dotted paths. */
  readonly optionalSections: readonly string[];
}

/** TypeBox schemas are JSON Schema objects; their static types say less than this package needs to read. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema;
}

/** A section has named keys of its own; everything else is a value. */
export function isSection(node: SchemaNode): boolean {
  return node.type === 'object' && node.properties !== undefined;
}

/**
 * All keys in the order of the schema. Throws when two keys would take the same environment variable, which is a
 * mistake in the schema. Without a prefix only the names in `env` count.
 */
export function configKeys(schema: TObject, environmentPrefix?: string): ConfigKey[] {
  const keys: ConfigKey[] = [];
  const collect = (node: SchemaNode, segments: readonly string[], optionalSections: readonly string[]): void => {
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const path = [...segments, name];
      const required = node.required?.includes(name) ?? false;
      if (isSection(child)) {
        collect(child, path, required ? optionalSections : [...optionalSections, path.join('.')]);
        continue;
      }
      keys.push({
        path: path.join('.'),
        segments: path,
        node: child,
        required,
        secret: child.secret === true,
        environmentNames: environmentNamesOf(child, path, environmentPrefix),
        optionalSections,
      });
    }
  };
  collect(nodeOf(schema), [], []);
  assertDistinctNames(keys);
  return keys;
}

function environmentNamesOf(node: SchemaNode, segments: readonly string[], prefix: string | undefined): string[] {
  const explicit = node.env === undefined ? [] : typeof node.env === 'string' ? [node.env] : [...node.env];
  if (prefix === undefined) return explicit;
  const derived = [prefix, ...segments].join('_').replaceAll('-', '_').toUpperCase();
  return explicit.includes(derived) ? explicit : [...explicit, derived];
}

function assertDistinctNames(keys: readonly ConfigKey[]): void {
  const owners = new Map<string, string>();
  for (const key of keys) {
    for (const name of key.secret
      ? key.environmentNames.flatMap((each) => [each, `${each}_FILE`])
      : key.environmentNames) {
      const owner = owners.get(name);
      if (owner !== undefined) throw new Error(`${owner} and ${key.path} both take the environment variable ${name}`);
      owners.set(name, key.path);
    }
  }
}
