/**
 * Responses of an API server are checked field by field: a cluster is not trusted to send what its version promises.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of field names and list indexes; undefined if any is missing. */
export function fieldAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current: unknown = value;
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'number') current = current[step];
    else if (isRecord(current)) current = current[String(step)];
    else return undefined;
  }
  return current;
}

const MAX_TEXT = 1024;

/** Returns null for empty or non-string values; truncates, since no display shows more. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found.slice(0, MAX_TEXT) : null;
}

/** Returns the integer at the path; 0 for anything else. */
export function countAt(value: unknown, ...path: readonly string[]): number {
  const found = fieldAt(value, ...path);
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : 0;
}

/** Returns the objects of the list at the path, without other items; empty if there is no list. */
export function recordsAt(value: unknown, ...path: readonly string[]): Record<string, unknown>[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
}

/** Returns the condition of this type in the object's status. */
export function findCondition(object: unknown, type: string): Record<string, unknown> | undefined {
  return recordsAt(object, 'status', 'conditions').find((each) => each['type'] === type);
}

/** Whether the object's status has this condition with value true. */
export function hasCondition(object: unknown, type: string): boolean {
  return findCondition(object, type)?.['status'] === 'True';
}
