import type { Principal } from '@svc/http';
import type { CreateRequest, SandboxService } from '../sandbox-service.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SnapshotService } from './snapshot-service.ts';

export interface ForkRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  readonly sandboxId: string;
  /** Of the fork; with more than one each has its number behind it. */
  readonly name: string | null;
  readonly count: number;
  /** How many sandboxes the caller may have. */
  readonly limit: number;
  /** The latest end of their life, for callers who may not choose. */
  readonly expiresAt: string | null;
}

/** Makes sandboxes that begin with the files of another as they are now: all of them or none. */
export async function fork(
  service: SandboxService,
  snapshots: SnapshotService,
  request: ForkRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly Sandbox[]> {
  const { workspaceUuid, maker, sandboxId } = request;
  const source = await service.get(workspaceUuid, sandboxId);
  const snapshot = await snapshots.createForFork({ workspaceUuid, maker, sandboxId, name: null });
  const made: Sandbox[] = [];
  try {
    for (let index = 1; index <= request.count; index += 1) {
      made.push(await service.create(childOf(source, request, snapshot.id, index), 0, signal));
    }
    return await Promise.all(made.map(({ id }) => service.settled(workspaceUuid, id, waitMs, signal)));
  } catch (error) {
    await Promise.allSettled(made.map(({ id }) => service.remove(workspaceUuid, id)));
    throw error;
  } finally {
    await snapshots.release(snapshot);
  }
}

function childOf(source: Sandbox, request: ForkRequest, snapshotId: string, index: number): CreateRequest {
  const { name, count } = request;
  return {
    workspaceUuid: request.workspaceUuid,
    maker: request.maker,
    image: source.image,
    snapshotId,
    name: name === null || count === 1 ? name : `${name.slice(0, 64 - String(index).length - 1)}-${index}`,
    environment: source.environment,
    labels: source.labels,
    resources: source.resources,
    network: source.network,
    egressAllow: source.egressAllow,
    isolation: source.isolation,
    idleTimeoutSeconds: source.idleTimeoutSeconds,
    maxLifetimeSeconds: null,
    // A fork outlives neither its source nor what its maker may have.
    expiresAt: [source.expiresAt, request.expiresAt].filter((each) => each !== null).toSorted()[0] ?? null,
    limit: request.limit,
    idempotencyKey: null,
  };
}
