import { isAppError } from '@svc/errors';
import { isStatusError, type KubeClient } from '@svc/kube';
import type { ResourceResult } from '@svc/protocol';
import { messageErrorOf } from '../commands/error-of.ts';
import type { InventoryEntry } from './inventory.ts';

export interface PruneRequest {
  client: KubeClient;
  projectId: string;
  keyPrefix: string;
  /** Protected kinds that the cluster's owner lets go all the same. */
  allowedKinds: readonly string[];
  signal: AbortSignal;
}

export interface PruneOutcome {
  results: ResourceResult[];
  /** Still there and still ours: they stay in the inventory. */
  retained: InventoryEntry[];
}

/** What holds data or other objects is never deleted by being left out of a manifest. */
const PROTECTED_KINDS: readonly string[] = [
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
];

/** Deletes what the last manifest had and this one has not, if it is still the same object and still carries our label. */
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

/** Null when it is gone already, or is not ours any more. */
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
    // Made anew by somebody in this moment: it is theirs now.
    if (isStatusError(error, 409)) return null;
    // Its kind went before it, and the object with its kind.
    if (isAppError(error) && error.code === 'UNKNOWN_KIND') return null;
    return { ...row(entry, 'failed', undefined), error: messageErrorOf(error) };
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
