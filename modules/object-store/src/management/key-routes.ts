import { grantOf, principalOf, type Grant, type HttpApp, type Principal } from '@svc/http';
import { Type } from 'typebox';
import { roleOf } from '../domain/key-service.ts';
import { storeErrors } from '../errors.ts';
import type { AccessKeyRecord, KeyPermission } from '../ports/records.ts';
import { envelope, toTimestamp } from './envelope.ts';
import { REGION, type ManagementParts } from './management-parts.ts';
import { teamQuery, workspaceParams } from './schemas.ts';

const TAGS = ['object store'];
const DEFAULT_PERMISSIONS: readonly KeyPermission[] = ['read', 'write'];

const createBody = Type.Object(
  {
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    permissions: Type.Optional(
      Type.Array(Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]), {
        minItems: 1,
        maxItems: 3,
      }),
    ),
    buckets: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 1_000 })),
    expires_at: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
  },
  { additionalProperties: false },
);

const deleteBody = Type.Object(
  { accessKeyId: Type.String({ minLength: 1, maxLength: 128 }) },
  { additionalProperties: false },
);

export function registerKeyRoutes(app: HttpApp, management: ManagementParts): void {
  const { keys, parts } = management.services;

  app.get(
    '/keys',
    {
      config: { action: 'key:list' },
      schema: {
        tags: TAGS,
        summary: 'List access keys, without secrets',
        params: workspaceParams,
        querystring: teamQuery,
      },
    },
    async (request) => {
      const grant = grantOf(request);
      const maker = seesAllKeys(grant) ? undefined : principalOf(request).id;
      const found = await keys.list(grant.workspaceUuid, maker);
      return envelope('Access keys', { keys: found.map(toKeyView), count: found.length });
    },
  );

  app.post(
    '/keys',
    {
      config: { action: 'key:create', auditResource: () => 'key' },
      schema: {
        tags: TAGS,
        summary: 'Create an access key; its secret is in this answer and never again',
        params: workspaceParams,
        querystring: teamQuery,
        body: Type.Union([createBody, Type.Null()]),
      },
    },
    async (request, reply) => {
      const { label = 'dashboard', permissions = DEFAULT_PERMISSIONS, buckets = [], expires_at } = request.body ?? {};
      const grant = grantOf(request);
      const principal = principalOf(request);
      if (permissions.includes('admin') && !mayMakeAdminKeys(grant, principal)) {
        throw storeErrors.AccessDenied({ details: { field: 'permissions', reason: 'admin keys need an admin' } });
      }
      const { key, secretAccessKey } = await keys.create({
        workspaceUuid: grant.workspaceUuid,
        label,
        permissions,
        buckets,
        createdBy: principal.id,
        expiresAtMs: readExpiry(expires_at, parts.now()),
      });
      return reply.status(201).send(envelope('Access key created', toCreatedView(key, secretAccessKey, management)));
    },
  );

  app.delete(
    '/keys',
    {
      config: { action: 'key:delete', auditResource: (request) => `key/${accessKeyIn(request.body)}` },
      schema: {
        tags: TAGS,
        summary: 'Revoke an access key',
        params: workspaceParams,
        querystring: teamQuery,
        body: deleteBody,
      },
    },
    async (request) => {
      const grant = grantOf(request);
      const { accessKeyId } = request.body;
      const own = seesAllKeys(grant) ? {} : { createdBy: principalOf(request).id };
      await keys.revoke({ workspaceUuid: grant.workspaceUuid, accessKeyId, ...own });
      return envelope('Access key revoked', { accessKeyId });
    },
  );

  registerPolicyRoutes(app);
}

/** They exist so that clients of the older API get an answer that says what to do instead. */
function registerPolicyRoutes(app: HttpApp): void {
  for (const url of ['/keys/policy', '/keys/policy/*']) {
    app.route({
      method: ['GET', 'POST', 'PUT', 'DELETE'],
      url,
      config: { action: 'key:list' },
      schema: { hide: true },
      handler: async () => {
        throw storeErrors.NotImplemented({
          details: {
            operation: 'Attaching policies to keys',
            hint: 'name the buckets when the key is created: {"buckets": [...]}',
          },
        });
      },
    });
  }
}

/** Members make keys for themselves, but none that could do more than they may. */
function mayMakeAdminKeys(grant: Grant, principal: Principal): boolean {
  if (grant.role === 'service_account') return principal.scopes?.includes('admin') === true;
  return grant.role === 'owner' || grant.role === 'admin';
}

/** Members see and revoke the keys that they made themselves. */
function seesAllKeys(grant: Grant): boolean {
  return grant.role !== 'member';
}

function readExpiry(text: string | null | undefined, nowMs: number): number | null {
  if (text === undefined || text === null) return null;
  const expiresAtMs = Date.parse(text);
  if (expiresAtMs > nowMs) return expiresAtMs;
  throw storeErrors.InvalidArgument({ details: { field: 'expires_at', reason: 'expires_at must be in the future' } });
}

function toKeyView(key: AccessKeyRecord): Record<string, unknown> {
  return {
    accessKeyId: key.accessKeyId,
    label: key.label,
    permissions: key.permissions,
    buckets: key.buckets ?? ['*'],
    role: roleOf(key),
    created_at: toTimestamp(key.createdAtMs),
    created_by: key.createdBy,
    expires_at: key.expiresAtMs === null ? null : toTimestamp(key.expiresAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toTimestamp(key.lastUsedAtMs),
  };
}

function toCreatedView(
  key: AccessKeyRecord,
  secretAccessKey: string,
  { s3Endpoint }: ManagementParts,
): Record<string, unknown> {
  const { accessKeyId, permissions, label } = key;
  const buckets = key.buckets ?? ['*'];
  return {
    accessKeyId,
    secretAccessKey,
    s3_endpoint: s3Endpoint(),
    region: REGION,
    tenant_id: key.workspaceUuid,
    key: {
      accessKeyId,
      secretAccessKey,
      permissions,
      buckets,
      label,
      role: roleOf(key),
      expires_at: key.expiresAtMs === null ? null : toTimestamp(key.expiresAtMs),
    },
  };
}

/** For the audit log, where a refused body may have any shape. */
function accessKeyIn(value: unknown): string {
  const { accessKeyId } = (value ?? {}) as { accessKeyId?: unknown }; // only looked at
  return typeof accessKeyId === 'string' ? accessKeyId.slice(0, 64) : 'unnamed';
}
