import { isAppError } from '@svc/errors';
import { isStatusError, type KubeClient } from '@svc/kube';
import type { ResourceResult } from '@svc/protocol';
import { toMessageError } from '../commands/error-of.ts';
import type { InventoryEntry } from './inventory.ts';

export interface PruneRequest {
  client: KubeClient;
  projectId: string;
  keyPrefix: string;
  /** Protected kinds that the cluster's owner allows to be pruned. */
  allowedKinds: readonly string[];
  signal: AbortSignal;
}

export interface PruneOutcome {
  results: ResourceResult[];
  /** Still present and still ours: they stay in the inventory. */
  retained: InventoryEntry[];
}

/** Kinds that hold data or other objects; leaving them out of a manifest never deletes them. */
const PROTECTED_KINDS: readonly string[] = [
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
];

/**
 * Deletes objects of the previous manifest that this one no longer has, if each is still the same object and still
 * carries our label.
 */
export async function pruneAll(request: PruneRequest, entries: readonly InventoryEntry[]): Promise<PruneOutcome> {
  const outcome: PruneOutcome = { results: [], retained: [] };
  for (const entry of [...entries].toReversed()) {
    request.signal.throwIfAborted();
    const result = await pruneOne(request, entry);
    if (result === null) continue;
    outcome.results.push(result);
    if (result.action !== 'pruned') outcome.retained.push(entry);
  }
  return outcome;
}

/** Null if it is already gone or no longer ours. */
async function pruneOne(request: PruneRequest, entry: InventoryEntry): Promise<ResourceResult | null> {
  const { client, projectId, keyPrefix, allowedKinds, signal } = request;
  try {
    const live = await client.get(entry, signal);
    if (live === null) return null;
    const { uid, labels, annotations } = live.metadata;
    const ours = labels?.[`${keyPrefix}/project`] === projectId && (entry.uid === undefined || entry.uid === uid);
    if (!ours) return null;
    if (PROTECTED_KINDS.includes(entry.kind) && !allowedKinds.includes(entry.kind)) {
      return row(
        entry,
        'skipped',
        `${entry.kind} is not deleted by a deploy; deploy.prune_kinds of the agent allows it`,
      );
    }
    if (annotations?.[`${keyPrefix}/prune`] === 'disabled') {
      return row(entry, 'skipped', `the annotation ${keyPrefix}/prune keeps it`);
    }
    const gone = await client.delete(entry, { ...(uid === undefined ? {} : { uid }), signal });
    return gone ? row(entry, 'pruned', undefined) : null;
  } catch (error) {
    signal.throwIfAborted();
    // It has just been recreated by someone else, who now owns it.
    if (isStatusError(error, 409)) return null;
    // Its kind was deleted before it, and the object with it.
    if (isAppError(error) && error.code === 'UNKNOWN_KIND') return null;
    return { ...row(entry, 'failed', undefined), error: toMessageError(error) };
  }
}

function row(entry: InventoryEntry, action: ResourceResult['action'], message: string | undefined): ResourceResult {
  return {
    api_version: entry.apiVersion,
    kind: entry.kind,
    namespace: entry.namespace ?? '',
    name: entry.name,
    action,
    health: 'unknown',
    ...(message === undefined ? {} : { message }),
  };
}
