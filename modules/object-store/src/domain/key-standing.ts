import type { MakerRights, StoreAction } from './ports/maker-rights.ts';
import type { AccessKeyRecord, KeyMaker, KeyPermission } from './ports/records.ts';
import { keyActions } from './caller.ts';

/** `limited`: the creator may do only part of what the key allows. `suspended`: none of it. */
export type KeyStatus = 'active' | 'limited' | 'suspended' | 'expired';

/** What a key currently allows. */
export interface KeyStanding {
  status: KeyStatus;
  /** Permissions that the key's creator still has. */
  effectivePermissions: readonly KeyPermission[];
  /** Why the key is not active. Null if it is. */
  reason: string | null;
}

/** The action that the creator must be allowed, by permission. */
const BACKED_BY: Readonly<Record<KeyPermission, StoreAction>> = {
  read: 'object:read',
  write: 'object:write',
  admin: 'bucket:update',
};

/** Checks each creator's rights once, however many keys it created. */
export async function findStandings(
  keys: readonly AccessKeyRecord[],
  { rights, nowMs }: { rights: MakerRights; nowMs: number },
): Promise<readonly KeyStanding[]> {
  const asked = new Map<string, ReadonlySet<string>>();
  const standings: KeyStanding[] = [];
  for (const key of keys) {
    const { createdBy: maker, workspaceUuid } = key;
    const name = `${maker.principalId}/${maker.tokenId ?? ''}`;
    const allowed =
      asked.get(name) ?? (await rights.allowedActions({ maker, workspaceUuid, actions: Object.values(BACKED_BY) }));
    asked.set(name, allowed);
    standings.push(standingOf(key, allowed, nowMs));
  }
  return standings;
}

function standingOf(key: AccessKeyRecord, allowed: ReadonlySet<string>, nowMs: number): KeyStanding {
  const { expiresAtMs, permissions } = key;
  if (expiresAtMs !== null && expiresAtMs <= nowMs) {
    return { status: 'expired', effectivePermissions: [], reason: 'The key has expired' };
  }
  const good = new Set<string>(keyActions(key));
  const effectivePermissions = permissions.filter((permission) => {
    const action = BACKED_BY[permission];
    return good.has(action) && allowed.has(action);
  });
  if (effectivePermissions.length === 0)
    return { status: 'suspended', effectivePermissions, reason: whyLost(key.createdBy) };
  const lost = permissions.filter((permission) => !effectivePermissions.includes(permission));
  if (lost.length === 0) return { status: 'active', effectivePermissions, reason: null };
  return { status: 'limited', effectivePermissions, reason: `Its creator no longer has ${lost.join(' and ')} access` };
}

function whyLost({ kind, tokenId }: KeyMaker): string {
  if (kind === 'service_account') return 'The service account that created it was deleted, has expired or lost access';
  if (tokenId === null) return 'The user who created it no longer has access to this workspace';
  return 'The user who created it no longer has access to this workspace, or the API token was deleted or has expired';
}
