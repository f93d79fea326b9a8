import { storeErrors } from '../errors.ts';
import type { AccessKeyRecord, KeyMaker, KeyPermission } from './ports/records.ts';
import type { Credential, CredentialCache } from './credential-cache.ts';
import { findStandings, type KeyStanding } from './key-standing.ts';
import type { StoreDeps } from './store-deps.ts';

export interface NewAccessKey {
  workspaceUuid: string;
  label: string;
  permissions: readonly KeyPermission[];
  /** Empty for all buckets. */
  buckets: readonly string[];
  createdBy: KeyMaker;
  expiresAtMs: number | null;
}

/** How often the use of a presigning key is recorded. */
const PRESIGN_TOUCH_MS = 3_600_000;

export type KeyRole = 'ReadOnly' | 'Editor' | 'NamespaceAdmin';

export interface ListedKey {
  key: AccessKeyRecord;
  standing: KeyStanding;
}

export interface KeyService {
  /** The secret is returned only here. */
  create(key: NewAccessKey): Promise<{ key: AccessKeyRecord; secretAccessKey: string }>;
  /** `createdBy` limits the list to that principal's keys. Throws `TenantNotProvisioned` before the first bucket. */
  list(workspaceUuid: string, createdBy?: string): Promise<readonly ListedKey[]>;
  /**
   * Signatures of the key fail from now on. `createdBy` limits it to that principal's keys. Throws `NoSuchAccessKey`.
   */
  revoke(key: { workspaceUuid: string; accessKeyId: string; createdBy?: string }): Promise<void>;
  /**
   * The key that signs a creator's URLs: they grant no more than the creator may do, and end with its rights or its
   * token. Revoking this key, whose id is in every URL, invalidates them; the next URL is signed with a new key.
   */
  presigning(workspaceUuid: string, maker: KeyMaker): Promise<Credential>;
}

export function createKeyService(deps: StoreDeps, credentials: CredentialCache): KeyService {
  const { metadata, identifiers, secrets, config, clock } = deps;
  const assertProvisioned = async (workspaceUuid: string): Promise<void> => {
    if (!(await metadata.isProvisioned({ workspaceUuid }))) throw storeErrors.TenantNotProvisioned();
  };
  return {
    create: async (wanted) => {
      const accessKeyId = identifiers.accessKeyId();
      const secretAccessKey = identifiers.secretAccessKey();
      const key: AccessKeyRecord = {
        accessKeyId,
        workspaceUuid: wanted.workspaceUuid,
        label: wanted.label,
        ...effectiveScope(wanted.permissions, wanted.buckets),
        sealedSecret: await secrets.seal(secretAccessKey, accessKeyId),
        createdAtMs: clock.nowMs(),
        createdBy: wanted.createdBy,
        expiresAtMs: wanted.expiresAtMs,
        lastUsedAtMs: null,
      };
      await metadata.createAccessKey({ key, maxKeys: config.limits.keys_per_workspace });
      return { key, secretAccessKey };
    },
    presigning: async (workspaceUuid, maker) => {
      const known = await metadata.findPresignKey({ workspaceUuid, maker });
      const key = known ?? (await metadata.createPresignKey({ key: await newPresignKey(deps, workspaceUuid, maker) }));
      const { accessKeyId } = key;
      // Record the use before issuing the URL: an unused key is removed once none of its URLs can be valid.
      const isUnused = clock.nowMs() - (key.lastUsedAtMs ?? key.createdAtMs) > PRESIGN_TOUCH_MS;
      if (isUnused) await metadata.touchAccessKeys({ usedAtMs: { [accessKeyId]: clock.nowMs() } });
      const credential = await credentials.find(accessKeyId);
      if (credential === null) throw storeErrors.OperationAborted(); // just revoked
      return credential;
    },
    list: async (workspaceUuid, createdBy) => {
      await assertProvisioned(workspaceUuid);
      const query = { workspaceUuid, after: '', limit: config.limits.keys_per_workspace };
      const found = await metadata.listAccessKeys(query);
      const keys = createdBy === undefined ? found : found.filter((key) => key.createdBy.principalId === createdBy);
      const standings = await findStandings(keys, { rights: deps.rights, nowMs: clock.nowMs() });
      return keys.flatMap((key, index) => {
        const standing = standings[index];
        return standing === undefined ? [] : [{ key, standing }];
      });
    },
    revoke: async (key) => {
      await assertProvisioned(key.workspaceUuid);
      const found = await metadata.deleteAccessKey(key);
      credentials.forget(key.accessKeyId);
      if (!found) throw storeErrors.NoSuchAccessKey({ details: { resource: key.accessKeyId, field: 'accessKeyId' } });
    },
  };
}

/** A presigning key covers objects in all buckets of the workspace, but never the buckets themselves. */
async function newPresignKey(
  { identifiers, secrets, clock }: StoreDeps,
  workspaceUuid: string,
  createdBy: KeyMaker,
): Promise<AccessKeyRecord> {
  const accessKeyId = identifiers.accessKeyId();
  return {
    accessKeyId,
    workspaceUuid,
    label: 'presigned URLs',
    permissions: ['read', 'write'],
    buckets: null,
    sealedSecret: await secrets.seal(identifiers.secretAccessKey(), accessKeyId),
    createdAtMs: clock.nowMs(),
    createdBy,
    expiresAtMs: null,
    lastUsedAtMs: null,
  };
}

/**
 * Maps permissions as the API contract does: on named buckets anything with `write` or `admin` is an Editor, so
 * requesting `admin` there succeeds; `admin` itself applies to all buckets only.
 */
export function effectiveScope(
  permissions: readonly KeyPermission[],
  buckets: readonly string[],
): Pick<AccessKeyRecord, 'permissions' | 'buckets'> {
  const all = buckets.length === 0 || buckets.includes('*');
  const unique = [...new Set(permissions)];
  if (all) return { permissions: unique, buckets: null };
  const editor = unique.some((permission) => permission !== 'read');
  return { permissions: editor ? ['read', 'write'] : ['read'], buckets: [...new Set(buckets)] };
}

export function roleOf(key: Pick<AccessKeyRecord, 'permissions' | 'buckets'>): KeyRole {
  if (key.permissions.includes('admin')) return 'NamespaceAdmin';
  return key.permissions.includes('write') ? 'Editor' : 'ReadOnly';
}
