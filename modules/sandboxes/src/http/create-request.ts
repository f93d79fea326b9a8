import type { Grant, Principal } from '@svc/http';
import type { Static } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import type { CreateRequest } from '../domain/sandbox-service.ts';
import type { SandboxResources } from '../drivers/driver.ts';
import { sandboxErrors } from '../errors.ts';
import type { createBodySchema } from './schemas.ts';

const MAX_ENVIRONMENT_BYTES = 64 * 1024;

/** How many sandboxes this caller may have. */
export function limitOf(principal: Principal, config: SandboxesConfig): number {
  return principal.kind === 'guest' ? config.max_per_guest : config.max_per_caller;
}

export function toCreateRequest(
  body: Static<typeof createBodySchema>,
  principal: Principal,
  grant: Grant,
  config: SandboxesConfig,
  idempotencyKey: string | null,
): CreateRequest {
  const environment = body.environment ?? {};
  if (Buffer.byteLength(JSON.stringify(environment)) > MAX_ENVIRONMENT_BYTES) {
    const reason = `is larger than ${MAX_ENVIRONMENT_BYTES} bytes`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'environment', reason } });
  }
  const lifetime = body.max_lifetime_seconds ?? null;
  return {
    workspaceUuid: grant.workspaceUuid,
    ownerId: principal.id,
    image: body.image,
    name: body.name ?? null,
    environment,
    labels: body.labels ?? {},
    resources: resourcesOf(body.resources ?? {}, config),
    network: body.network ?? config.network,
    isolation: body.isolation ?? 'default',
    idleTimeoutSeconds: body.idle_timeout_seconds ?? null,
    maxLifetimeSeconds:
      principal.kind === 'guest'
        ? Math.min(lifetime ?? config.guest_lifetime_seconds, config.guest_lifetime_seconds)
        : lifetime,
    limit: limitOf(principal, config),
    idempotencyKey,
  };
}

function resourcesOf(
  wanted: NonNullable<Static<typeof createBodySchema>['resources']>,
  { resources, maximum }: SandboxesConfig,
): SandboxResources {
  for (const name of ['cpu', 'memory_mb', 'disk_mb', 'pids'] as const) {
    if ((wanted[name] ?? 0) <= maximum[name]) continue;
    const field = `resources.${name}`;
    throw sandboxErrors.INVALID_FIELD({ details: { field, reason: `at most ${maximum[name]} is allowed` } });
  }
  return {
    cpuMillis: Math.round((wanted.cpu ?? resources.cpu) * 1000),
    memoryMb: wanted.memory_mb ?? resources.memory_mb,
    diskMb: wanted.disk_mb ?? resources.disk_mb,
    pids: wanted.pids ?? resources.pids,
  };
}
