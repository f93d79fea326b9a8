import { isSection, type SchemaNode } from './config-key.ts';

/** Returns the schema with unknown keys forbidden in every object. */
export function closedSchema(node: SchemaNode): SchemaNode {
  const closed: Record<string, unknown> = { ...node };
  if (isSection(node)) {
    closed['additionalProperties'] = node.additionalProperties ?? false;
    closed['properties'] = mapValues(node.properties ?? {}, closedSchema);
  }
  if (node.patternProperties !== undefined)
    closed['patternProperties'] = mapValues(node.patternProperties, closedSchema);
  if (node.items !== undefined) closed['items'] = closedSchema(node.items);
  if (node.anyOf !== undefined) closed['anyOf'] = node.anyOf.map(closedSchema);
  return closed;
}

/** Applies the defaults of objects inside lists and maps. */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = node.items;
    return items === undefined ? value : value.map((item: unknown) => withDefaults(items, item));
  }
  if (!isRecord(value)) return value;
  const completed: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    if (Object.hasOwn(completed, name)) completed[name] = withDefaults(child, completed[name]);
    else if (child.default !== undefined) completed[name] = structuredClone(child.default);
  }
  const entry = Object.values(node.patternProperties ?? {})[0];
  return entry === undefined ? completed : mapValues(completed, (each) => withDefaults(entry, each));
}

/** Whether the value is an object other than an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a copy of the record with every value mapped. */
export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

/** Freezes the value and everything it contains, in place. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
