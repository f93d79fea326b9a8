import { Type, type Static } from 'typebox';
import { roleOf, type ListedKey } from '../domain/key-service.ts';
import type { AccessKeyRecord } from '../domain/ports/records.ts';
import { toTimestamp } from './envelope.ts';
import { REGION } from './management-deps.ts';
import { nullableTimestamp, timestamp } from './schemas.ts';

export const permission = Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]);

const scope = {
  label: Type.String(),
  permissions: Type.Array(permission),
  buckets: Type.Array(Type.String(), { description: '`["*"]`: all buckets of the workspace' }),
  role: Type.Union([Type.Literal('ReadOnly'), Type.Literal('Editor'), Type.Literal('NamespaceAdmin')]),
  expires_at: nullableTimestamp,
};

export const keyView = Type.Object({
  accessKeyId: Type.String(),
  ...scope,
  created_at: timestamp,
  created_by: Type.String({ description: 'ID of the user or service account that created it' }),
  created_by_name: Type.String({
    description: 'Email address or name of the creator at that time; empty for old keys',
  }),
  status: Type.Union(
    [Type.Literal('active'), Type.Literal('limited'), Type.Literal('suspended'), Type.Literal('expired')],
    {
      description:
        'A key grants no more than its creator may currently do. `limited`: only `effective_permissions` remain. ' +
        '`suspended`: no permissions remain, and requests are refused.',
    },
  ),
  status_reason: Type.Union([Type.String(), Type.Null()]),
  effective_permissions: Type.Array(permission),
  last_used_at: nullableTimestamp,
});

export const createdKeyView = Type.Object({
  accessKeyId: Type.String(),
  secretAccessKey: Type.String({ description: 'Returned only once' }),
  s3_endpoint: Type.String(),
  region: Type.String(),
  tenant_id: Type.String(),
  key: Type.Object({ accessKeyId: Type.String(), secretAccessKey: Type.String(), ...scope }),
});

export function toKeyView({ key, standing }: ListedKey): Static<typeof keyView> {
  return {
    accessKeyId: key.accessKeyId,
    ...toScope(key),
    created_at: toTimestamp(key.createdAtMs),
    created_by: key.createdBy.principalId,
    created_by_name: key.createdBy.name,
    status: standing.status,
    status_reason: standing.reason,
    effective_permissions: [...standing.effectivePermissions],
    last_used_at: key.lastUsedAtMs === null ? null : toTimestamp(key.lastUsedAtMs),
  };
}

export function toCreatedKeyView(
  key: AccessKeyRecord,
  secretAccessKey: string,
  s3Endpoint: string,
): Static<typeof createdKeyView> {
  const { accessKeyId } = key;
  return {
    accessKeyId,
    secretAccessKey,
    s3_endpoint: s3Endpoint,
    region: REGION,
    tenant_id: key.workspaceUuid,
    key: { accessKeyId, secretAccessKey, ...toScope(key) },
  };
}

function toScope(key: AccessKeyRecord) {
  return {
    label: key.label,
    permissions: [...key.permissions],
    buckets: [...(key.buckets ?? ['*'])],
    role: roleOf(key),
    expires_at: key.expiresAtMs === null ? null : toTimestamp(key.expiresAtMs),
  };
}
