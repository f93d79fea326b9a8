import type { Principal } from '@svc/access';
import type { SandboxService } from '../sandbox-service.ts';
import type { CreateRequest } from '../create-request.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SnapshotService } from './snapshot-service.ts';

export interface ForkRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  readonly sandboxId: string;
  /** Name of the fork. With more than one, each name ends in its number. */
  readonly name: string | null;
  readonly count: number;
  /** Maximum number of sandboxes of the caller. */
  readonly limit: number;
  /** Latest expiry, for callers whose sandboxes have a fixed lifetime. */
  readonly expiresAt: string | null;
}

/** Creates sandboxes from the current files of another one: all of them or none. */
export async function fork(
  service: SandboxService,
  snapshots: SnapshotService,
  request: ForkRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly Sandbox[]> {
  const { workspaceUuid, maker, sandboxId } = request;
  service.assertTakesSandboxes(); // before the copy
  const source = await service.get(workspaceUuid, sandboxId);
  const snapshot = await snapshots.createForFork({ workspaceUuid, maker, sandboxId, name: null });
  const made: Sandbox[] = [];
  try {
    for (let index = 1; index <= request.count; index += 1) {
      made.push(await service.create(createChildRequest(source, request, snapshot.id, index), 0, signal));
    }
    return await Promise.all(made.map(({ id }) => service.settled(workspaceUuid, id, waitMs, signal)));
  } catch (error) {
    await Promise.allSettled(made.map(({ id }) => service.remove(workspaceUuid, id)));
    throw error;
  } finally {
    await snapshots.release(snapshot);
  }
}

function createChildRequest(source: Sandbox, request: ForkRequest, snapshotId: string, index: number): CreateRequest {
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
    egressRules: source.egressRules,
    isolation: source.isolation,
    idleTimeoutSeconds: source.idleTimeoutSeconds,
    maxLifetimeSeconds: null,
    // A fork expires no later than its source and the caller's own limit.
    expiresAt: [source.expiresAt, request.expiresAt].filter((each) => each !== null).toSorted()[0] ?? null,
    onDrain: source.onDrain,
    onExpiry: request.expiresAt === null ? source.onExpiry : 'delete',
    resumeSeconds: source.resumeSeconds,
    requestHost: source.requestHost,
    limit: request.limit,
    idempotencyKey: null,
  };
}
