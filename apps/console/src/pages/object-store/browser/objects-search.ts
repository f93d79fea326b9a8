export interface ObjectsSearch {
  /** The folder that is looked at, with its slash. */
  prefix?: string;
  /** The key whose details are open. */
  object?: string;
  /** Deleted objects are shown too. */
  deleted?: true;
}

export function parseObjectsSearch(search: Record<string, unknown>): ObjectsSearch {
  // A key may look like a number or a truth value; the router has then made one of it.
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
