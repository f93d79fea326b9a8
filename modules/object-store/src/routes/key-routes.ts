import type { Grant, Principal } from '@svc/access';
import { grantOf, type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { createKeyMaker } from './key-maker.ts';
import { effectiveScope } from '../domain/key-service.ts';
import { storeErrors } from '../errors.ts';
import type { KeyPermission } from '../domain/ports/records.ts';
import { envelope } from './envelope.ts';
import { createdKeyView, keyView, permission, toCreatedKeyView, toKeyView } from './key-view.ts';
import type { ManagementDeps } from './management-deps.ts';
import { closed, createEnvelopeSchema, TAGS, teamQuery, workspaceParams } from './schemas.ts';

const DEFAULT_PERMISSIONS: readonly KeyPermission[] = ['read', 'write'];

const createBody = Type.Object(
  {
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    permissions: Type.Optional(Type.Array(permission, { minItems: 1, maxItems: 3 })),
    buckets: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 1_000 })),
    expires_at: Type.Optional(nullable(Type.String({ format: 'date-time' }))),
  },
  closed,
);

const deleteBody = Type.Object({ accessKeyId: Type.String({ minLength: 1, maxLength: 128 }) }, closed);

export function registerKeyRoutes(app: HttpApp, management: ManagementDeps): void {
  registerList(app, management);
  registerCreate(app, management);
  registerRevoke(app, management);
  registerPolicyRoutes(app);
}

function registerList(app: HttpApp, { services: { keys } }: ManagementDeps): void {
  app.get(
    '/keys',
    {
      config: { action: 'key:list' },
      schema: {
        tags: TAGS,
        summary: 'List access keys, without secrets',
        params: workspaceParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(Type.Object({ keys: Type.Array(keyView), count: Type.Integer() })) },
      },
    },
    async (request) => {
      const grant = grantOf(request);
      const principal = principalOf(request);
      const found = await keys.list(grant.workspaceUuid, administers(grant, principal) ? undefined : principal.id);
      return envelope('Access keys', { keys: found.map(toKeyView), count: found.length });
    },
  );
}

function registerCreate(app: HttpApp, management: ManagementDeps): void {
  const { keys, deps } = management.services;

  app.post(
    '/keys',
    {
      config: { action: 'key:create', auditResource: () => 'key' },
      schema: {
        tags: TAGS,
        summary: 'Create an access key; its secret is returned only once',
        params: workspaceParams,
        querystring: teamQuery,
        body: nullable(createBody),
        response: { 201: createEnvelopeSchema(createdKeyView) },
      },
    },
    async (request, reply) => {
      const { label = 'dashboard', permissions = DEFAULT_PERMISSIONS, buckets = [], expires_at } = request.body ?? {};
      const grant = grantOf(request);
      const principal = principalOf(request);
      const isAdminKey = effectiveScope(permissions, buckets).permissions.includes('admin');
      if (isAdminKey && !administers(grant, principal)) {
        throw storeErrors.AccessDenied({
          details: { field: 'permissions', reason: 'a key with admin permission requires an admin' },
        });
      }
      const { key, secretAccessKey } = await keys.create({
        workspaceUuid: grant.workspaceUuid,
        label,
        permissions,
        buckets,
        createdBy: createKeyMaker(principal),
        expiresAtMs: readExpiry(expires_at, deps.clock.nowMs(), principal),
      });
      const view = toCreatedKeyView(key, secretAccessKey, management.s3Endpoint());
      return await reply.status(201).send(envelope('Access key created', view));
    },
  );
}

function registerRevoke(app: HttpApp, { services: { keys } }: ManagementDeps): void {
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
        response: { 200: createEnvelopeSchema(Type.Object({ accessKeyId: Type.String() })) },
      },
    },
    async (request) => {
      const grant = grantOf(request);
      const principal = principalOf(request);
      const { accessKeyId } = request.body;
      const own = administers(grant, principal) ? {} : { createdBy: principal.id };
      await keys.revoke({ workspaceUuid: grant.workspaceUuid, accessKeyId, ...own });
      return envelope('Access key revoked', { accessKeyId });
    },
  );
}

/** Tells clients of the older API what to do instead. */
function registerPolicyRoutes(app: HttpApp): void {
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/keys/policy*',
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

/**
 * Whether the caller administers all keys. Other callers can create keys no more powerful than themselves, and see and
 * revoke only the keys they created.
 */
function administers(grant: Grant, principal: Principal): boolean {
  if (grant.role === 'service_account') return principal.scopes?.includes('admin') === true;
  return grant.role === 'owner' || grant.role === 'admin';
}

/** A key expires no later than the token that creates it, so a leaked short-lived token cannot create a lasting key. */
function readExpiry(text: string | null | undefined, nowMs: number, { expiresAt }: Principal): number | null {
  const latestMs = expiresAt === null ? null : Date.parse(expiresAt);
  if (text === undefined || text === null) return latestMs;
  const expiresAtMs = Date.parse(text);
  if (!(expiresAtMs > nowMs)) {
    throw storeErrors.InvalidArgument({ details: { field: 'expires_at', reason: 'expires_at must be in the future' } });
  }
  if (latestMs !== null && expiresAtMs > latestMs) {
    throw storeErrors.ExpiryTooLate({ details: { field: 'expires_at', latest: expiresAt } });
  }
  return expiresAtMs;
}

/** Reads the key id for the audit log. A rejected body may have any shape. */
function accessKeyIn(value: unknown): string {
  const { accessKeyId } = (value ?? {}) as { accessKeyId?: unknown }; // unvalidated; checked below
  return typeof accessKeyId === 'string' ? accessKeyId.slice(0, 64) : 'unnamed';
}
