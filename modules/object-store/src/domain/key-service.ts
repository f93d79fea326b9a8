import { storeErrors } from '../errors.ts';
import type { AccessKeyRecord, KeyPermission } from '../ports/records.ts';
import type { Credential, CredentialCache } from './credential-cache.ts';
import type { StoreParts } from './store-parts.ts';

export interface NewAccessKey {
  workspaceUuid: string;
  label: string;
  permissions: readonly KeyPermission[];
  /** Empty: all buckets. */
  buckets: readonly string[];
  createdBy: string;
  expiresAtMs: number | null;
}

export type KeyRole = 'ReadOnly' | 'Editor' | 'NamespaceAdmin';

export interface KeyService {
  /** The secret is in this answer and never again. */
  create(key: NewAccessKey): Promise<{ key: AccessKeyRecord; secretAccessKey: string }>;
  /** `createdBy`: only those that this principal made. Before the first bucket there are none: `TenantNotProvisioned`. */
  list(workspaceUuid: string, createdBy?: string): Promise<readonly AccessKeyRecord[]>;
  /** From then on signatures of it fail. `createdBy`: only a key that this principal made. `NoSuchAccessKey`. */
  revoke(key: { workspaceUuid: string; accessKeyId: string; createdBy?: string }): Promise<void>;
  /**
   * What URLs of this workspace are signed with. Revoking the keys of people does not end them; revoking this one, whose
   * id stands in every URL, ends all of them, and the next URL is signed with a new one.
   */
  presigning(workspaceUuid: string): Promise<Credential>;
}

export function createKeyService(parts: StoreParts, credentials: CredentialCache): KeyService {
  const { metadata, identifiers, secrets, config, now } = parts;
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
        sealedSecret: secrets.seal(secretAccessKey, accessKeyId),
        createdAtMs: now(),
        createdBy: wanted.createdBy,
        expiresAtMs: wanted.expiresAtMs,
        lastUsedAtMs: null,
      };
      await metadata.createAccessKey({ key, maxKeys: config.limits.keys_per_workspace });
      return { key, secretAccessKey };
    },
    presigning: async (workspaceUuid) => {
      const known = await metadata.findPresignKey({ workspaceUuid });
      const key = known ?? (await metadata.createPresignKey({ key: newPresignKey(parts, workspaceUuid) }));
      const credential = await credentials.find(key.accessKeyId);
      if (credential === null) throw storeErrors.OperationAborted(); // revoked a moment ago
      return credential;
    },
    list: async (workspaceUuid, createdBy) => {
      await assertProvisioned(workspaceUuid);
      const query = { workspaceUuid, after: '', limit: config.limits.keys_per_workspace };
      const found = await metadata.listAccessKeys(query);
      return createdBy === undefined ? found : found.filter((key) => key.createdBy === createdBy);
    },
    revoke: async (key) => {
      await assertProvisioned(key.workspaceUuid);
      const found = await metadata.deleteAccessKey(key);
      credentials.forget(key.accessKeyId);
      if (!found) throw storeErrors.NoSuchAccessKey({ details: { resource: key.accessKeyId, field: 'accessKeyId' } });
    },
  };
}

/** Good for objects of all buckets of the workspace, never for the buckets themselves. */
function newPresignKey({ identifiers, secrets, now }: StoreParts, workspaceUuid: string): AccessKeyRecord {
  const accessKeyId = identifiers.accessKeyId();
  return {
    accessKeyId,
    workspaceUuid,
    label: 'presigned URLs',
    permissions: ['read', 'write'],
    buckets: null,
    sealedSecret: secrets.seal(identifiers.secretAccessKey(), accessKeyId),
    createdAtMs: now(),
    createdBy: 'presign',
    expiresAtMs: null,
    lastUsedAtMs: null,
  };
}

/**
 * The contract's mapping: on named buckets anything with `write` or `admin` is an Editor of them, so that asking for
 * admin there succeeds; `admin` itself is only for all buckets.
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
