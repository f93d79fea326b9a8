import type { Grant, Principal } from '@svc/access';
import type { Static } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import type { CreateRequest } from '../domain/create-request.ts';
import { egressHost } from '../domain/egress-hosts.ts';
import type { SandboxResources } from '../domain/driver.ts';
import { sandboxErrors } from '../errors.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import type { createBodySchema } from './schemas.ts';

const MAX_ENVIRONMENT_BYTES = 64 * 1024;

/** Maximum number of sandboxes of this caller. */
export function limitOf(principal: Principal, config: SandboxesConfig): number {
  return principal.kind === 'guest' ? config.max_per_guest : config.max_per_caller;
}

/** The fields of the caller that are stored with a request. */
export function creatorFields({ kind, id }: Principal): Pick<Principal, 'kind' | 'id'> {
  return { kind, id };
}

export function snapshotLimitOf(principal: Principal, config: SandboxesConfig): number {
  return principal.kind === 'guest' ? config.max_per_guest : config.max_snapshots_per_caller;
}

/** Latest expiry of a guest's resources; null for all other callers. */
export function guestExpiry(principal: Principal, config: SandboxesConfig, now: Date): string | null {
  if (principal.kind !== 'guest') return null;
  return new Date(now.getTime() + config.guest_lifetime_seconds * 1000).toISOString();
}

export function toCreateRequest(
  body: Static<typeof createBodySchema>,
  principal: Principal,
  grant: Grant,
  config: SandboxesConfig,
  idempotencyKey: string | null,
  snapshot: Snapshot | null,
  isolation: IsolationPolicy,
): CreateRequest {
  const image = snapshot?.image ?? body.image;
  if (image === undefined || (snapshot !== null && body.image !== undefined)) {
    const reason = snapshot === null ? 'is required' : 'is that of the snapshot';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'image', reason } });
  }
  const environment = body.environment ?? {};
  if (Buffer.byteLength(JSON.stringify(environment)) > MAX_ENVIRONMENT_BYTES) {
    const reason = `is larger than ${MAX_ENVIRONMENT_BYTES} bytes`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'environment', reason } });
  }
  const network = body.network ?? config.network;
  const lifetime = body.max_lifetime_seconds ?? null;
  return {
    workspaceUuid: grant.workspaceUuid,
    maker: creatorFields(principal),
    image,
    snapshotId: snapshot?.id ?? null,
    expiresAt: null,
    name: body.name ?? null,
    environment,
    labels: body.labels ?? {},
    resources: parseResources(body.resources ?? {}, config, snapshot),
    network,
    egressAllow: parseEgressAllow(body.egress_allow, network),
    isolation: isolation.choose(body.isolation ?? 'default'),
    idleTimeoutSeconds: body.idle_timeout_seconds ?? null,
    maxLifetimeSeconds:
      principal.kind === 'guest'
        ? Math.min(lifetime ?? config.guest_lifetime_seconds, config.guest_lifetime_seconds)
        : lifetime,
    limit: limitOf(principal, config),
    idempotencyKey,
  };
}

function parseEgressAllow(given: readonly string[] | undefined, network: string): readonly string[] | null {
  if (given === undefined) return null;
  if (network !== 'egress') {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'egress_allow', reason: 'needs the network egress' } });
  }
  const hosts = given.map((text, index) => {
    const host = egressHost(text);
    if (host !== null) return host;
    const reason = 'is no host name and no *. with one';
    throw sandboxErrors.INVALID_FIELD({ details: { field: `egress_allow[${index}]`, reason } });
  });
  return [...new Set(hosts)];
}

function parseResources(
  wanted: NonNullable<Static<typeof createBodySchema>['resources']>,
  { resources, maximum }: SandboxesConfig,
  snapshot: Snapshot | null,
): SandboxResources {
  if (snapshot !== null && (wanted.disk_mb ?? snapshot.diskMb) !== snapshot.diskMb) {
    const reason = `is ${snapshot.diskMb}, as of the snapshot`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'resources.disk_mb', reason } });
  }
  for (const name of ['cpu', 'memory_mb', 'disk_mb', 'pids'] as const) {
    if ((wanted[name] ?? 0) <= maximum[name]) continue;
    const field = `resources.${name}`;
    throw sandboxErrors.INVALID_FIELD({ details: { field, reason: `at most ${maximum[name]} is allowed` } });
  }
  return {
    cpuMillis: Math.round((wanted.cpu ?? resources.cpu) * 1000),
    memoryMb: wanted.memory_mb ?? resources.memory_mb,
    diskMb: snapshot?.diskMb ?? wanted.disk_mb ?? resources.disk_mb,
    pids: wanted.pids ?? resources.pids,
  };
}
