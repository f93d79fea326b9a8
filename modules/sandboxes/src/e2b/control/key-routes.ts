import { grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ApiKey, ApiKeys } from '../../domain/access/api-keys.ts';
import { sandboxErrors } from '../../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** ID of the key that the route created, for the audit log. */
    createdKeyId: string | null;
  }
}

const PREFIX_OF_KEYS = 'e2b_';
const SHOWN_AT_START = 2;
const SHOWN_AT_END = 4;
/** Of a stored key, only the hash is known. */
const UNKNOWN_MASK = { prefix: '', valueLength: 0, maskedValuePrefix: '', maskedValueSuffix: '' };

const params = Type.Object({ id: Type.String({ maxLength: 100 }) });
const body = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100, pattern: '^(?=.*\\S)[^\\p{Cc}]+$' }) });
const schema = { hide: true } as const;

export interface KeyRouteDeps {
  readonly prefix: string;
  readonly keys: ApiKeys;
}

/** `/api-keys`: the workspace's service accounts. Only its admins manage them, so that no key makes others. */
export function registerKeyRoutes(app: HttpApp, { prefix, keys }: KeyRouteDeps): void {
  app.decorateRequest('createdKeyId', null);
  const path = `${prefix}/api-keys`;
  app.get(path, { config: { action: 'service-account:list' }, schema }, async (request) => {
    const all = await keys.list(workspaceOf(request));
    return all.map((key) => ({ ...render(key), mask: UNKNOWN_MASK }));
  });
  app.post(
    path,
    {
      config: {
        action: 'service-account:create',
        auditResource: ({ createdKeyId }) =>
          createdKeyId === null ? 'service-account' : `service-account/${createdKeyId}`,
      },
      schema: { ...schema, body },
    },
    async (request, reply) => {
      const { key, secret } = await keys.create(workspaceOf(request), request.body.name, principalOf(request));
      request.createdKeyId = key.id;
      reply.header('cache-control', 'no-store');
      return reply.status(201).send({ ...render(key), key: secret, mask: maskOf(secret) });
    },
  );
  app.patch(
    `${path}/:id`,
    { config: { action: 'service-account:update', auditResource: namedKey }, schema: { ...schema, params, body } },
    async (request, reply) => {
      await keys.rename(workspaceOf(request), request.params.id, request.body.name);
      return reply.status(200).send();
    },
  );
  app.delete(
    `${path}/:id`,
    {
      config: {
        action: 'service-account:delete',
        unheld: 'a key may revoke itself, and its caller is still answered',
        auditResource: namedKey,
      },
      schema: { ...schema, params },
    },
    async (request, reply) => {
      await keys.revoke(workspaceOf(request), request.params.id);
      return reply.status(204).send();
    },
  );
}

/** Clients that are signed in as a person name the team, which must be the workspace that was granted. */
function workspaceOf(request: FastifyRequest): string {
  const { workspaceUuid } = grantOf(request);
  const team = request.headers['x-team-id'];
  if (team !== undefined && team !== workspaceUuid) throw sandboxErrors.TEAM_NOT_FOUND();
  return workspaceUuid;
}

function namedKey(request: FastifyRequest): string {
  const { id } = request.params as { id: string }; // the route's path has it
  return `service-account/${id}`;
}

function render({ id, name, createdBy, createdAt, lastUsedAt }: ApiKey) {
  return { id, name, createdAt, createdBy: { id: createdBy, email: null }, lastUsed: lastUsedAt };
}

function maskOf(secret: string) {
  const value = secret.slice(PREFIX_OF_KEYS.length);
  return {
    prefix: PREFIX_OF_KEYS,
    valueLength: value.length,
    maskedValuePrefix: value.slice(0, SHOWN_AT_START),
    maskedValueSuffix: value.slice(-SHOWN_AT_END),
  };
}
