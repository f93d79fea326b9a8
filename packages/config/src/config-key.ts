import type { TObject, TSchema } from 'typebox';

/**
 * Annotations of our schemas beyond JSON Schema, set as ordinary TypeBox options:
 *
 * ```ts
 * Type.String({ description: '…', secret: true, env: 'SVC_MASTER_KEY' })
 * ```
 *
 * `secret` values are redacted in all output and can be read from a file (`SVC_MASTER_KEY_FILE`). `env` lists more
 * environment variables in order of precedence, ahead of the one derived from the path.
 */
export interface ConfigAnnotations {
  secret?: boolean;
  env?: string | readonly string[];
}

/** The subset of JSON Schema that this package reads. */
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

/** A configurable value: a leaf of the sections. A list or map is one value. */
export interface ConfigKey {
  /** Dotted path, as displayed: `object_store.soft_delete.days`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly node: SchemaNode;
  readonly required: boolean;
  readonly secret: boolean;
  /** In order of precedence; the name derived from the path comes last. */
  readonly environmentNames: readonly string[];
  /** Dotted paths of parent sections that may be absent as a whole. */
  readonly optionalSections: readonly string[];
}

/** TypeBox schemas are JSON Schema objects; their static types omit what this package reads. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema;
}

/** A section has named keys; everything else is a value. */
export function isSection(node: SchemaNode): boolean {
  return node.type === 'object' && node.properties !== undefined;
}

/**
 * Returns all keys in schema order. Throws if two keys share an environment variable, a bug in the schema. Without a
 * prefix, only the names in `env` apply.
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
