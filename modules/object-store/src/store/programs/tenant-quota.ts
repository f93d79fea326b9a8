import { gateSubjects, isLimited, type Limits, type Quota, scopeUsage, type QuotaScope, type Usage } from '@svc/quotas';
import { storeQuotas } from '../../quotas.ts';
import type { QueryPrograms } from '../program.ts';
import { first, lock, type Lock, type Program } from '../program.ts';
import { integer } from '../row.ts';

type Query<Name extends keyof QueryPrograms> = Parameters<QueryPrograms[Name]>[0];

/**
 * The usage of the workspace and its owner, which stays exact until this transaction ends: PostgreSQL takes locks,
 * SQLite has a single writer. Null if none of the quotas is limited, which costs nothing.
 */
export function* tenantUsage(limits: Limits, quotas: readonly Quota[]): Program<Record<QuotaScope, Usage> | null> {
  const ownerLimited = isLimited(limits, 'owner', quotas);
  if (!ownerLimited && !isLimited(limits, 'workspace', quotas)) return null;
  for (const subject of gateSubjects(limits)) yield* lock(quotaLock(subject).name);
  const byWorkspace = new Map<string, Usage>();
  for (const uuid of ownerLimited ? limits.ownerWorkspaces : [limits.workspaceUuid]) {
    byWorkspace.set(uuid, yield* readUsage(uuid));
  }
  return scopeUsage(limits, byWorkspace);
}

/** Held by every transaction that adds to what the subject uses, from its check until the commit. */
export function quotaLock(subject: string): Lock {
  return { name: `quota/${subject}`, shared: false };
}

export function* quotaUsage({ workspaceUuid }: Query<'quotaUsage'>): Program<Usage> {
  return yield* readUsage(workspaceUuid);
}

export function* readUsage(workspaceUuid: string): Program<Usage> {
  const stored = yield* first(
    `select count(*) as buckets,
       cast(coalesce(sum(u.object_count + u.marker_count + u.upload_count), 0) as bigint) as objects,
       cast(coalesce(sum(u.size_bytes + u.upload_bytes), 0) as bigint) as bytes,
       coalesce((select t.trash_bytes from tenant t where t.workspace_uuid = ?), 0) as trash_bytes
     from bucket b join bucket_usage u on u.bucket_id = b.id where b.workspace_uuid = ?`,
    workspaceUuid,
    workspaceUuid,
  );
  if (stored === undefined) return {};
  return {
    [storeQuotas.stored_bytes.name]: integer(stored, 'bytes') + integer(stored, 'trash_bytes'),
    [storeQuotas.stored_objects.name]: integer(stored, 'objects'),
    [storeQuotas.buckets.name]: integer(stored, 'buckets'),
  };
}
