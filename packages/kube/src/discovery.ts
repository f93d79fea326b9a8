import { readJson } from './answers.ts';
import { isStatusError, kubeErrors } from './errors.ts';
import { isRecord } from './fields.ts';
import type { KindReference } from './objects.ts';
import type { Transport } from './transport.ts';

/** A kind with the properties of its resource. */
export interface ResourceKind extends KindReference {
  /** Path segment: `deployments`. */
  plural: string;
  namespaced: boolean;
  verbs: readonly string[];
}

/** Finds the resources of kinds. */
export interface Discovery {
  /** Finds the path of a kind. Throws `UNKNOWN_KIND`. Rechecks kinds that were missing before, as after a new CRD. */
  find(reference: KindReference, signal?: AbortSignal): Promise<ResourceKind>;
  /** Clears the cache, including missing kinds. */
  forget(): void;
}

interface CachedVersion {
  kinds: ReadonlyMap<string, ResourceKind>;
  readAtMs: number;
}

const MAX_CACHED_VERSIONS = 64;
const MAX_AGE_MS = 600_000;
const MAX_KINDS = 2000;
const API_VERSION = /^([a-z0-9.-]{1,253}\/)?[a-z0-9]{1,63}$/;

/** Fetches each group and version on first use instead of the whole cluster's list. */
export function createDiscovery(transport: Transport, nowMs: () => number): Discovery {
  const cache = new Map<string, CachedVersion>();

  const load = async (apiVersion: string, signal?: AbortSignal): Promise<CachedVersion> => {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const kinds = await fetchKinds(transport, apiVersion, path, signal);
    const entry = { kinds, readAtMs: nowMs() };
    cache.delete(apiVersion); // re-inserted last: the map is in order of use
    cache.set(apiVersion, entry);
    const oldest = cache.keys().next();
    if (cache.size > MAX_CACHED_VERSIONS && !oldest.done) cache.delete(oldest.value);
    return entry;
  };

  return {
    forget: () => cache.clear(),
    find: async (reference, signal) => {
      const { apiVersion, kind } = reference;
      const unknown = kubeErrors.UNKNOWN_KIND({
        details: { api_version: apiVersion.slice(0, 320), kind: kind.slice(0, 253) },
      });
      if (!API_VERSION.test(apiVersion)) throw unknown;
      const cached = cache.get(apiVersion);
      const fresh = cached !== undefined && nowMs() - cached.readAtMs < MAX_AGE_MS;
      const found = (fresh ? cached : await load(apiVersion, signal)).kinds.get(kind);
      if (found !== undefined) return found;
      const again = fresh ? (await load(apiVersion, signal)).kinds.get(kind) : undefined;
      if (again === undefined) throw unknown;
      return again;
    },
  };
}

async function fetchKinds(
  transport: Transport,
  apiVersion: string,
  path: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, ResourceKind>> {
  const kinds = new Map<string, ResourceKind>();
  try {
    const list = await readJson(await transport.send({ method: 'GET', path, signal }));
    const resources = Array.isArray(list['resources']) ? list['resources'] : [];
    for (const resource of resources.slice(0, MAX_KINDS)) {
      const kind = isRecord(resource) ? parseKind(apiVersion, resource) : null;
      if (kind !== null) kinds.set(kind.kind, kind);
    }
  } catch (error) {
    if (!isStatusError(error, 404)) throw error; // 404: the group does not exist, so all of its kinds are unknown
  }
  return kinds;
}

/** Returns null for subresources, whose names contain a slash. */
function parseKind(apiVersion: string, resource: Record<string, unknown>): ResourceKind | null {
  const { name, kind, namespaced, verbs } = resource;
  if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return null;
  const verbList = Array.isArray(verbs) ? verbs.filter((verb) => typeof verb === 'string') : [];
  return { apiVersion, kind, plural: name, namespaced: namespaced === true, verbs: verbList };
}
