import { gateSubjects, isLimited, limitIn, QUOTA_SCOPES, scopeUsage, type Limits, type Usage } from '@svc/quotas';
import type { BucketQuota, WriteQuota } from '../../domain/ports/records.ts';
import type { Command } from '../outcome.ts';
import { bucketUsage, TENANT_QUOTAS, type BucketUsage } from '../programs/quota-rows.ts';
import { quotaLock, readUsage } from '../programs/tenant-quota.ts';
import type { PostgresTransaction } from './transaction.ts';

/** The part of a command's input that its quota concerns. */
interface LimitedInput {
  bucketId: number;
  quota?: WriteQuota;
  /** Of a part: an upload that its bucket has no room for is refused early. */
  partBytes?: number;
}

/** Reads the quota of a command. Null if the command has none. */
export function readQuota({ name, input }: Command): (LimitedInput & { quota: WriteQuota }) | null {
  // Inputs are typed by the port; commands with a quota have these fields.
  const { bucketId, quota, sizeBytes } = (input ?? {}) as { bucketId?: number; quota?: WriteQuota; sizeBytes?: number };
  if (quota === undefined || bucketId === undefined) return null;
  const tenant = quota.tenant !== undefined && isTenantLimited(quota.tenant) ? quota.tenant : undefined;
  if (tenant === undefined && quota.bucket === undefined) return null;
  const limited = { ...(quota.bucket && { bucket: quota.bucket }), ...(tenant && { tenant }) };
  return {
    bucketId,
    quota: limited,
    ...(name === 'putPart' && sizeBytes !== undefined ? { partBytes: sizeBytes } : {}),
  };
}

/** The same command without its quota, for a transaction that checks all quotas at its end. */
export function withoutQuota(command: Command): Command {
  const { quota: _quota, ...input } = (command.input ?? {}) as { quota?: WriteQuota }; // typed by the port
  return { name: command.name, input };
}

/** Names of what a quota limits. */
export function limitedSubjects({ bucketId, quota }: Pick<LimitedInput, 'bucketId'> & { quota: WriteQuota }): string[] {
  const bucket = quota.bucket === undefined ? [] : [`bucket/${bucketId}`];
  return quota.tenant === undefined ? bucket : [...bucket, ...gateSubjects(quota.tenant)];
}

/**
 * Checks the quotas of all commands at once, after they ran: none is passed if the sums of their transaction fit. Until
 * the commit, no other transaction can add to the same workspaces, which lock the same subjects, or to the same buckets,
 * whose counters this transaction has changed. Returns the subjects that are over a limit.
 */
export async function findFullSubjects(
  transaction: PostgresTransaction,
  commands: readonly Command[],
): Promise<ReadonlySet<string>> {
  const limited = commands.map(readQuota).filter((each) => each !== null);
  const full = new Set<string>();
  if (limited.length === 0) return full;
  const tenants = new Map<string, Limits>();
  for (const { tenant } of limited.map(({ quota }) => quota)) {
    if (tenant !== undefined) tenants.set(tenant.workspaceUuid, tenant);
  }
  transaction.lock([...tenants.values()].flatMap(gateSubjects).map(quotaLock));
  const workspaces = new Set([...tenants.values()].flatMap(countedWorkspaces));
  const buckets = new Set(limited.filter(({ quota }) => quota.bucket !== undefined).map(({ bucketId }) => bucketId));
  const [usageByWorkspace, usageByBucket] = await Promise.all([
    readAll(workspaces, (uuid) => transaction.query(readUsage(uuid))),
    readAll(buckets, (bucketId) => transaction.query(bucketUsage(bucketId))),
  ]);
  for (const tenant of tenants.values()) {
    for (const subject of fullTenantSubjects(tenant, usageByWorkspace)) full.add(subject);
  }
  for (const { bucketId, quota, partBytes = 0 } of limited) {
    const usage = usageByBucket.get(bucketId);
    if (quota.bucket !== undefined && usage !== undefined && isBucketFull(quota.bucket, usage, partBytes)) {
      full.add(`bucket/${bucketId}`);
    }
  }
  return full;
}

function isTenantLimited(limits: Limits): boolean {
  return QUOTA_SCOPES.some((scope) => isLimited(limits, scope, TENANT_QUOTAS));
}

function countedWorkspaces(limits: Limits): readonly string[] {
  return isLimited(limits, 'owner', TENANT_QUOTAS) ? limits.ownerWorkspaces : [limits.workspaceUuid];
}

function fullTenantSubjects(limits: Limits, usageByWorkspace: ReadonlyMap<string, Usage>): readonly string[] {
  const counted = new Map(countedWorkspaces(limits).map((uuid) => [uuid, usageByWorkspace.get(uuid) ?? {}]));
  const used = scopeUsage(limits, counted);
  const isFull = QUOTA_SCOPES.some((scope) =>
    TENANT_QUOTAS.some((quota) => {
      const limit = limitIn(limits, scope, quota);
      return limit !== null && (used[scope][quota.name] ?? 0) > limit;
    }),
  );
  return isFull ? gateSubjects(limits) : [];
}

function isBucketFull({ maxBytes, maxObjects }: BucketQuota, usage: BucketUsage, partBytes: number): boolean {
  return (
    (maxBytes !== null && usage.bytes + partBytes > maxBytes) || (maxObjects !== null && usage.objects > maxObjects)
  );
}

async function readAll<Key, Value>(
  keys: ReadonlySet<Key>,
  read: (key: Key) => Promise<Value>,
): Promise<ReadonlyMap<Key, Value>> {
  return new Map(await Promise.all([...keys].map(async (key) => [key, await read(key)] as const)));
}
