import type { TObject } from 'typebox';
import { configKeys, nodeOf, type SchemaNode } from './config-key.ts';
import { closedSchema, isRecord, mapValues } from './schema-tree.ts';

/** Identity of a generated JSON Schema. */
export interface JsonSchemaOptions {
  title: string;
  id?: string;
}

/**
 * Returns plain JSON Schema 2020-12 for editors and `validate` commands. Secrets are `writeOnly`; our annotations are
 * dropped.
 */
export function configJsonSchema(schema: TObject, options: JsonSchemaOptions): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(options.id === undefined ? {} : { $id: options.id }),
    title: options.title,
    ...plainSchema(closedSchema(nodeOf(schema))),
  };
}

/**
 * Sections whose required keys all have defaults can be omitted from the file, so `required` lists only mandatory keys.
 */
function plainSchema(node: SchemaNode): Record<string, unknown> {
  const { secret, env: _env, ...rest } = node;
  const plain: Record<string, unknown> = { ...rest };
  if (secret === true) plain['writeOnly'] = true;
  if (node.items !== undefined) plain['items'] = plainSchema(node.items);
  if (node.anyOf !== undefined) plain['anyOf'] = node.anyOf.map(plainSchema);
  if (node.patternProperties !== undefined) plain['patternProperties'] = mapValues(node.patternProperties, plainSchema);
  if (node.properties !== undefined) {
    const properties = mapValues(node.properties, plainSchema);
    plain['properties'] = properties;
    const required = (node.required ?? []).filter((name) => mustBeWritten(properties[name]));
    if (required.length > 0) plain['required'] = required;
    else delete plain['required'];
  }
  return plain;
}

function mustBeWritten(property: unknown): boolean {
  if (!isRecord(property)) return false;
  if (property['default'] !== undefined) return false;
  return property['properties'] === undefined || property['required'] !== undefined;
}

/** A row of the configuration reference. */
export interface ReferenceRow {
  readonly path: string;
  readonly description: string;
  readonly default: unknown;
  readonly environmentNames: readonly string[];
  readonly secret: boolean;
  readonly required: boolean;
}

/** Returns one row per key, for the reference page. */
export function configReference(schema: TObject, environmentPrefix?: string): ReferenceRow[] {
  return configKeys(schema, environmentPrefix).map((key) => ({
    path: key.path,
    description: key.node.description ?? '',
    default: key.node.default ?? null,
    environmentNames: key.environmentNames,
    secret: key.secret,
    required: key.required && key.node.default === undefined,
  }));
}
