import type { Grant, Principal } from '@svc/access';
import type { Static } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import type { CreateRequest } from '../domain/create-request.ts';
import { parseEgressRule, type EgressRule } from '../domain/egress-rules/egress-rule.ts';
import { egressTarget, EVERYTHING, everythingExcept } from '../domain/egress-hosts.ts';
import { egressRange } from '../domain/egress-ranges.ts';
import type { SandboxResources } from '../domain/driver.ts';
import type { Sandbox, VolumeMount } from '../domain/sandbox.ts';
import { sandboxErrors } from '../errors.ts';
import type { UsableTemplate } from '../domain/templates/template-service.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import type { createBodySchema, egressRuleSchema } from './schemas.ts';

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

/** When a sandbox ends that shall live so long from now; a guest's lasts no longer than one that a guest creates. */
export function expiryIn(
  seconds: number,
  { kind }: Principal,
  { createdAt }: Pick<Sandbox, 'createdAt'>,
  config: SandboxesConfig,
  now: Date,
): string {
  const wanted = new Date(now.getTime() + seconds * 1000).toISOString();
  if (kind !== 'guest') return wanted;
  const latest = new Date(Date.parse(createdAt) + config.guest_lifetime_seconds * 1000).toISOString();
  return wanted < latest ? wanted : latest;
}

/** Without mounts of buckets and without a cluster, which the caller adds. */
export function toCreateRequest(
  body: Static<typeof createBodySchema>,
  principal: Principal,
  grant: Grant,
  config: SandboxesConfig,
  idempotencyKey: string | null,
  snapshot: Snapshot | null,
  isolation: IsolationPolicy,
  volumes: readonly VolumeMount[] = [],
  template: UsableTemplate | null = null,
): CreateRequest {
  const image = snapshot?.image ?? template?.name ?? body.image;
  if (template !== null && (snapshot !== null || body.image !== undefined)) {
    const reason = 'cannot be combined with image and snapshot_id';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'template', reason } });
  }
  if (image === undefined || (snapshot !== null && body.image !== undefined)) {
    const reason = snapshot === null ? 'is required' : 'is that of the snapshot';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'image', reason } });
  }
  const environment = body.environment ?? {};
  if (Buffer.byteLength(JSON.stringify(environment)) > MAX_ENVIRONMENT_BYTES) {
    const reason = `is larger than ${MAX_ENVIRONMENT_BYTES} bytes`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'environment', reason } });
  }
  if (principal.kind === 'guest' && (body.resources?.gpus ?? 0) > 0) throw sandboxErrors.GPUS_OF_GUESTS();
  const network = body.network ?? config.network;
  return {
    workspaceUuid: grant.workspaceUuid,
    maker: creatorFields(principal),
    image,
    snapshotId: snapshot?.id ?? null,
    template: snapshot?.template ?? template?.template ?? null,
    expiresAt: null,
    // A guest's sandbox never outlives its time.
    onExpiry: principal.kind === 'guest' ? 'delete' : (body.on_expiry ?? 'delete'),
    resumeSeconds: null,
    requestHost: null,
    name: body.name ?? null,
    environment,
    labels: body.labels ?? {},
    resources: parseResources(body.resources ?? {}, config, snapshot, template?.resources ?? null),
    network,
    egressAllow: parseEgress(body, network),
    egressRules:
      body.egress_rules === undefined ? keptRules(snapshot, network) : parseEgressRules(body.egress_rules, principal),
    isolation: isolation.choose(body.isolation ?? 'default'),
    volumes: assertNoGuest(principal, volumes),
    mounts: [],
    cluster: null,
    idleTimeoutSeconds: body.idle_timeout_seconds ?? null,
    maxLifetimeSeconds: lifetimeOf(principal, body.max_lifetime_seconds ?? null, config),
    onDrain: body.on_drain ?? 'stop',
    onNodeLost: body.on_node_lost ?? 'wait',
    limit: limitOf(principal, config),
    idempotencyKey,
  };
}

function lifetimeOf(
  { kind }: Principal,
  wanted: number | null,
  { guest_lifetime_seconds: longest }: SandboxesConfig,
): number | null {
  return kind === 'guest' ? Math.min(wanted ?? longest, longest) : wanted;
}

/** Throws VOLUMES_OF_GUESTS: what guests create ends with their time. */
function assertNoGuest({ kind }: Principal, volumes: readonly VolumeMount[]): readonly VolumeMount[] {
  if (volumes.length > 0 && kind === 'guest') throw sandboxErrors.VOLUMES_OF_GUESTS();
  return volumes;
}

/** Throws INVALID_FIELD, and SECRETS_OF_GUESTS. */
export function parseEgressRules(
  given: readonly Static<typeof egressRuleSchema>[],
  { kind }: Principal,
): readonly EgressRule[] {
  if (given.length > 0 && kind === 'guest') throw sandboxErrors.SECRETS_OF_GUESTS();
  return given.map((each, index) => {
    const rule = parseEgressRule(each);
    if (!('field' in rule)) return rule;
    const field = `egress_rules[${index}].${rule.field}`;
    throw sandboxErrors.INVALID_FIELD({ details: { field, reason: rule.reason } });
  });
}

/** A sandbox without a network needs none. */
function keptRules(snapshot: Snapshot | null, network: string): readonly EgressRule[] {
  return network === 'egress' ? (snapshot?.egressRules ?? []) : [];
}

type WantedEgress = Pick<Static<typeof createBodySchema>, 'egress_allow' | 'egress_deny'>;

function parseEgress(wanted: WantedEgress, network: string): readonly string[] | null {
  const field = wanted.egress_allow !== undefined ? 'egress_allow' : 'egress_deny';
  if (wanted[field] === undefined) return null;
  if (network !== 'egress') {
    throw sandboxErrors.INVALID_FIELD({ details: { field, reason: 'needs the network egress' } });
  }
  const targets = egressFrom(wanted);
  return targets === EVERYTHING ? null : targets;
}

/** The allowlist for what a caller allows or denies. Throws INVALID_FIELD. */
export function egressFrom({
  egress_allow: allowed,
  egress_deny: denied = [],
}: {
  readonly egress_allow?: readonly string[] | null | undefined;
  readonly egress_deny?: readonly string[] | undefined;
}): readonly string[] {
  const targets = allowed === null || allowed === undefined ? EVERYTHING : egressTargets(allowed);
  if (denied.length === 0) return targets;
  if (targets !== EVERYTHING) {
    const reason = 'cannot be combined with egress_allow; omit one of them';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'egress_deny', reason } });
  }
  return everythingExcept(
    denied.map((each, index) => {
      const range = egressRange(each);
      if (range !== null) return range;
      const reason = 'is not an IPv4 address or range; hostnames can only be allowed';
      throw sandboxErrors.INVALID_FIELD({ details: { field: `egress_deny[${index}]`, reason } });
    }),
  );
}

/** Throws INVALID_FIELD for an entry that is neither a host nor an IPv4 range. */
export function egressTargets(given: readonly string[], field = 'egress_allow'): string[] {
  const targets = given.map((text, index) => {
    const target = egressTarget(text);
    if (target !== null) return target;
    const reason = 'is not a hostname, *. and a hostname, or an IPv4 address or range';
    throw sandboxErrors.INVALID_FIELD({ details: { field: `${field}[${index}]`, reason } });
  });
  return [...new Set(targets)];
}

function parseResources(
  wanted: NonNullable<Static<typeof createBodySchema>['resources']>,
  { resources, maximum }: SandboxesConfig,
  snapshot: Snapshot | null,
  usual: SandboxResources | null,
): SandboxResources {
  if (snapshot !== null && (wanted.disk_mb ?? snapshot.diskMb) !== snapshot.diskMb) {
    const reason = `is ${snapshot.diskMb}, as of the snapshot`;
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'resources.disk_mb', reason } });
  }
  for (const name of ['cpu', 'memory_mb', 'disk_mb', 'pids', 'gpus'] as const) {
    if ((wanted[name] ?? 0) <= maximum[name]) continue;
    const field = `resources.${name}`;
    throw sandboxErrors.INVALID_FIELD({ details: { field, reason: `at most ${maximum[name]} is allowed` } });
  }
  return {
    cpuMillis: wanted.cpu === undefined && usual !== null ? usual.cpuMillis : cpuMillisOf(wanted.cpu ?? resources.cpu),
    memoryMb: wanted.memory_mb ?? usual?.memoryMb ?? resources.memory_mb,
    diskMb: snapshot?.diskMb ?? wanted.disk_mb ?? usual?.diskMb ?? resources.disk_mb,
    pids: wanted.pids ?? usual?.pids ?? resources.pids,
    ...((wanted.gpus ?? 0) > 0 && { gpus: wanted.gpus }),
  };
}

function cpuMillisOf(cpu: number): number {
  return Math.round(cpu * 1000);
}
