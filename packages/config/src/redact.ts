import type { TObject } from 'typebox';
import { nodeOf, type SchemaNode } from './config-key.ts';
import { isRecord } from './schema-tree.ts';

/** Replaces secrets in displayed configuration. */
export const REDACTED = '***REDACTED***';

/** Returns a copy for display, with every set secret redacted. */
export function redactConfig(schema: TObject, config: unknown): Record<string, unknown> {
  const redacted = redactValue(nodeOf(schema), config);
  return isRecord(redacted) ? redacted : {};
}

/** Returns a copy of a value with the secrets of its schema redacted. */
export function redactValue(node: SchemaNode, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (node.secret === true) return value === '' ? '' : REDACTED;
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(node.items ?? {}, item));
  if (!isRecord(value)) return value;
  const entry = Object.values(node.patternProperties ?? {})[0] ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, redactValue(node.properties?.[name] ?? entry, child)]),
  );
}
