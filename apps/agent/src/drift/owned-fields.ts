import { isRecord, type ObjectMetadata } from '@svc/kube';

/** The fields that we own in an object, in the API server's format (`fieldsV1`). */
export type OwnedFields = Record<string, unknown>;

const MAX_PATHS = 20;

/** Fields that this manager applied and no other manager has changed: such a change transfers ownership. */
export function ownedFields({ managedFields }: ObjectMetadata, manager: string): OwnedFields {
  const entry = (managedFields ?? []).find(
    (each) => each.manager === manager && each.operation === 'Apply' && each.subresource === undefined,
  );
  return entry?.fieldsV1 ?? {};
}

/** Paths that are no longer ours, up to a limit. */
export function lostFields(before: OwnedFields, now: OwnedFields): string[] {
  const lost: string[] = [];
  collect(before, now, '', lost);
  return lost.toSorted().slice(0, MAX_PATHS);
}

function collect(before: OwnedFields, now: OwnedFields, path: string, lost: string[]): void {
  for (const [name, inner] of Object.entries(before)) {
    if (name === '.') continue; // the parent itself
    const there = now[name];
    const isPart = isRecord(inner) && Object.keys(inner).some((each) => each !== '.');
    if (isPart) collect(inner, isRecord(there) ? there : {}, `${path}${readable(name)}`, lost);
    else if (there === undefined) lost.push(`${path}${readable(name)}`);
  }
}

/** `f:replicas` -> `.replicas`, `k:{"name":"main"}` -> `[name=main]`, `v:"x"` -> `["x"]`. */
function readable(name: string): string {
  const rest = name.slice(2);
  if (name.startsWith('f:')) return `.${rest}`;
  if (!name.startsWith('k:')) return `[${rest}]`;
  try {
    const keys: unknown = JSON.parse(rest);
    if (isRecord(keys))
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${String(value)}`)
        .join(',')}]`;
  } catch {
    // a key from a newer API server
  }
  return `[${rest}]`;
}

/** The last manager, other than us, to change the object. */
export function lastManager({ managedFields }: ObjectMetadata, manager: string): string {
  const others = (managedFields ?? []).filter(
    (each) => !each.manager.startsWith(manager) && each.subresource !== 'status',
  );
  return others.toSorted((one, two) => (one.time ?? '').localeCompare(two.time ?? '')).at(-1)?.manager ?? '';
}
