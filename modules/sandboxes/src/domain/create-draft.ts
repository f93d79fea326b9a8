import { clusterDriverName } from './clusters/sandbox-cluster.ts';
import type { SandboxContext } from './context.ts';
import type { CreateRequest } from './create-request.ts';
import { newName, newSandboxId } from './identifiers.ts';
import type { Sandbox } from './sandbox.ts';

/** The record of a new sandbox. */
export function createDraft(
  request: CreateRequest,
  { clock, random, node, driver }: Pick<SandboxContext, 'clock' | 'random' | 'node' | 'driver'>,
): Sandbox {
  const now = clock.now();
  const { maxLifetimeSeconds, cluster } = request;
  return {
    id: newSandboxId(random.bytes),
    workspaceUuid: request.workspaceUuid,
    ownerId: request.maker.id,
    node: cluster?.node ?? node,
    driver: cluster === null ? driver.name : clusterDriverName(cluster.id),
    cluster: cluster === null ? null : { id: cluster.id, name: cluster.name, maker: cluster.maker },
    name: request.name ?? newName(random.bytes),
    image: request.image,
    snapshotId: request.snapshotId,
    template: request.template,
    status: 'creating',
    stateReason: null,
    fault: null,
    environment: request.environment,
    labels: request.labels,
    resources: request.resources,
    network: request.network,
    egressAllow: request.egressAllow,
    egressRules: request.egressRules,
    isolation: request.isolation,
    volumes: request.volumes,
    mounts: request.mounts,
    idleTimeoutSeconds: request.idleTimeoutSeconds,
    expiresAt: earliest(request.expiresAt, maxLifetimeSeconds, now),
    onDrain: request.onDrain,
    onNodeLost: request.onNodeLost,
    onExpiry: request.onExpiry,
    resumeSeconds: request.resumeSeconds,
    requestHost: request.requestHost,
    createdAt: now.toISOString(),
    startedAt: null,
    lastActivityAt: now.toISOString(),
    removedAt: null,
    pausedAt: null,
  };
}

function earliest(expiresAt: string | null, lifetimeSeconds: number | null, now: Date): string | null {
  const end = lifetimeSeconds === null ? null : new Date(now.getTime() + lifetimeSeconds * 1000).toISOString();
  return [expiresAt, end].filter((each) => each !== null).toSorted()[0] ?? null;
}
