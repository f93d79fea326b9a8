import type { GrantedAccess, Principal } from '@svc/access';
import type { ChosenCluster, ClusterChoice } from '../clusters/choose-cluster.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { CreateRequest } from '../create-request.ts';
import type { Sandbox, VolumeMount } from '../sandbox.ts';
import type { VolumeService } from '../volumes/volume-service.ts';
import type { MountService } from '../mounts/mount-service.ts';
import type { BucketMount } from '../mounts/bucket-mount.ts';
import type { ForkCopies } from './fork-copies.ts';
import type { SnapshotService } from './snapshot-service.ts';

export interface ForkRequest {
  readonly workspaceUuid: string;
  readonly maker: Pick<Principal, 'kind' | 'id'>;
  /** Must be allowed to use the buckets that the sandbox mounts. */
  readonly principal: Principal;
  /** Must still be granted when the copies are made. */
  readonly granted: GrantedAccess;
  readonly sandboxId: string;
  /** Name of the fork. With more than one, each name ends in its number. */
  readonly name: string | null;
  readonly count: number;
  /** Whether forks mount the same buckets, instead of forks of those that the sandbox writes to. */
  readonly sharesBuckets: boolean;
  /** Maximum number of sandboxes of the caller. */
  readonly limit: number;
  /** Latest expiry, for callers whose sandboxes have a fixed lifetime. */
  readonly expiresAt: string | null;
}

export interface ForkDeps {
  /** Throws 401, 403 or 404 if the access would no longer be granted. */
  readonly confirm: (granted: GrantedAccess) => Promise<unknown>;
  readonly service: SandboxService;
  readonly clusters: Pick<ClusterChoice, 'choose'>;
  readonly snapshots: SnapshotService;
  readonly volumes: VolumeService;
  readonly mounts: MountService;
  readonly forkCopies: ForkCopies;
}

/**
 * Creates sandboxes from the current files of another one: all of them or none. Each gets copies of the volumes and forks
 * of the buckets that the source writes to, and shares those that it only reads. The copies may take hours, so that the
 * caller's rights are checked again after them.
 */
export async function fork(
  deps: ForkDeps,
  request: ForkRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly Sandbox[]> {
  const { service, snapshots, volumes, mounts: mountService, forkCopies } = deps;
  const { workspaceUuid, maker, sandboxId, principal } = request;
  const source = await service.get(workspaceUuid, sandboxId);
  if (source.cluster === null) service.assertTakesSandboxes();
  await authorize(deps, request, source);
  const snapshot = await snapshots.createForFork({ workspaceUuid, maker, sandboxId, name: null });
  const made: Sandbox[] = [];
  const journal = forkCopies.begin(workspaceUuid);
  try {
    const { authorized } = await authorize(deps, request, source);
    for (let index = 1; index <= request.count; index += 1) {
      const mounts = await volumes.copyForFork(workspaceUuid, maker, source.volumes, journal.note);
      const buckets = request.sharesBuckets
        ? mountService.share(authorized)
        : await mountService.fork(workspaceUuid, principal, authorized, journal.note, signal);
      const { cluster } = await authorize(deps, request, source);
      made.push(
        await service.create(
          createChildRequest(source, request, { snapshotId: snapshot.id, index, mounts, buckets, cluster }),
          0,
          signal,
        ),
      );
    }
    const settled = await Promise.all(made.map(({ id }) => service.settled(workspaceUuid, id, waitMs, signal)));
    await journal.end();
    return settled;
  } catch (error) {
    await Promise.allSettled(made.map(({ id }) => service.remove(workspaceUuid, id)));
    await journal.undo();
    throw error;
  } finally {
    await snapshots.release(snapshot);
  }
}

/** The forks run by the right of their own creator, at the node that has the tunnel of the cluster now. */
async function authorize(
  { confirm, clusters, mounts }: ForkDeps,
  { workspaceUuid, principal, granted }: ForkRequest,
  source: Sandbox,
): Promise<{ readonly cluster: ChosenCluster | null; readonly authorized: readonly BucketMount[] }> {
  await confirm(granted);
  const cluster = source.cluster === null ? null : await clusters.choose(workspaceUuid, principal, source.cluster.id);
  return { cluster, authorized: await mounts.authorize(workspaceUuid, principal, source.mounts) };
}

/** Removes a sandbox of a fork with its copies. They are noted before, so that a crash on the way leaves none of them. */
export async function discardFork(
  { service, forkCopies }: Pick<ForkDeps, 'service' | 'forkCopies'>,
  { workspaceUuid, id, volumes, mounts }: Sandbox,
): Promise<void> {
  const journal = forkCopies.begin(workspaceUuid);
  for (const { name, readOnly } of volumes) {
    if (!readOnly) await journal.note({ kind: 'volume', name, sourceName: name });
  }
  for (const { bucket, forkedFrom } of mounts) {
    if (forkedFrom !== undefined) await journal.note({ kind: 'bucket', name: bucket, sourceName: forkedFrom });
  }
  await service.remove(workspaceUuid, id);
  await journal.undo();
}

interface Child {
  readonly snapshotId: string;
  readonly index: number;
  readonly mounts: readonly VolumeMount[];
  readonly buckets: readonly BucketMount[];
  readonly cluster: ChosenCluster | null;
}

function createChildRequest(
  source: Sandbox,
  request: ForkRequest,
  { snapshotId, index, mounts, buckets, cluster }: Child,
): CreateRequest {
  const { name, count } = request;
  return {
    workspaceUuid: request.workspaceUuid,
    maker: request.maker,
    image: source.image,
    snapshotId,
    template: source.template,
    name: name === null || count === 1 ? name : `${name.slice(0, 64 - String(index).length - 1)}-${index}`,
    environment: source.environment,
    labels: source.labels,
    resources: source.resources,
    network: source.network,
    egressAllow: source.egressAllow,
    egressRules: source.egressRules,
    isolation: source.isolation,
    volumes: mounts,
    mounts: buckets,
    cluster,
    idleTimeoutSeconds: source.idleTimeoutSeconds,
    maxLifetimeSeconds: null,
    // A fork expires no later than its source and the caller's own limit.
    expiresAt: [source.expiresAt, request.expiresAt].filter((each) => each !== null).toSorted()[0] ?? null,
    onDrain: source.onDrain,
    onNodeLost: source.onNodeLost,
    onExpiry: request.expiresAt === null ? source.onExpiry : 'delete',
    resumeSeconds: source.resumeSeconds,
    requestHost: source.requestHost,
    limit: request.limit,
    idempotencyKey: null,
  };
}
