import { Type, type Static } from 'typebox';
import { roleOf } from '../domain/key-service.ts';
import type { AccessKeyRecord } from '../ports/records.ts';
import { toTimestamp } from './envelope.ts';
import { REGION } from './management-parts.ts';
import { nullableTimestamp, timestamp } from './schemas.ts';

export const permission = Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]);

const scope = {
  label: Type.String(),
  permissions: Type.Array(permission),
  buckets: Type.Array(Type.String(), { description: '`["*"]`: all of the workspace.' }),
  role: Type.Union([Type.Literal('ReadOnly'), Type.Literal('Editor'), Type.Literal('NamespaceAdmin')]),
  expires_at: nullableTimestamp,
};

export const keyView = Type.Object({
  accessKeyId: Type.String(),
  ...scope,
  created_at: timestamp,
  created_by: Type.String({ description: 'The user or service account that made it.' }),
  last_used_at: nullableTimestamp,
});

export const createdKeyView = Type.Object({
  accessKeyId: Type.String(),
  secretAccessKey: Type.String({ description: 'In this answer only.' }),
  s3_endpoint: Type.String(),
  region: Type.String(),
  tenant_id: Type.String(),
  key: Type.Object({ accessKeyId: Type.String(), secretAccessKey: Type.String(), ...scope }),
});

export function toKeyView(key: AccessKeyRecord): Static<typeof keyView> {
  return {
    accessKeyId: key.accessKeyId,
    ...toScope(key),
    created_at: toTimestamp(key.createdAtMs),
    created_by: key.createdBy,
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
