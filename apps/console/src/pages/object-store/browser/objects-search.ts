export interface ObjectsSearch {
  /** The current folder, with its trailing slash. */
  prefix?: string;
  /** The key whose details are open. */
  object?: string;
  /** Also shows deleted objects. */
  deleted?: true;
}

export function parseObjectsSearch(search: Record<string, unknown>): ObjectsSearch {
  // The router parses a numeric or boolean key as such.
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  const prefix = text(search['prefix']);
  const object = text(search['object']);
  return {
    ...(prefix === undefined || prefix === '' ? {} : { prefix }),
    ...(object === undefined || object === '' ? {} : { object }),
    ...(search['deleted'] === true ? { deleted: true } : {}),
  };
}
