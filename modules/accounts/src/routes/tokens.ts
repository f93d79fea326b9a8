import { type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { assertConfirmed } from '../domain/access/confirmed.ts';
import { pageRequest } from '../domain/paging.ts';
import type { ApiToken } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { createdResource, namedResource } from './created-resource.ts';
import {
  deletedSchema,
  expirySchema,
  idSchema,
  listSchema,
  nameSchema,
  pageQuerySchema,
  timestampSchema,
} from './schemas.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['accounts'];

const tokenProperties = {
  id: Type.String(),
  name: Type.String(),
  created_at: timestampSchema,
  expires_at: nullable(timestampSchema),
  last_used_at: nullable(Type.String({ description: 'Rounded to the minute' })),
  current: Type.Boolean({ description: 'Whether this request uses this token' }),
};
const tokenSchema = Type.Object(tokenProperties);
const createdSchema = Type.Object({ ...tokenProperties, token: Type.String({ description: 'Shown only once' }) });
const createSchema = Type.Object({ name: nameSchema, expires_at: expirySchema }, { additionalProperties: false });
const paramsSchema = Type.Object({ id: idSchema });

export function registerTokens(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/tokens',
    {
      config: { action: 'token:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List your API tokens',
        querystring: pageQuerySchema,
        response: { 200: listSchema('tokens', tokenSchema) },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const { items, nextCursor } = await services.apiTokens.list(principal.id, pageRequest(request.query));
      return { tokens: items.map((token) => toTokenView(token, principal.credentialId)), next_cursor: nextCursor };
    },
  );

  app.post(
    '/api/tokens',
    {
      config: { action: 'token:create', scope: 'self', auditResource: createdResource('token') },
      schema: {
        tags: TAGS,
        summary: 'Create an API token; requires a sign-in confirmed in the last ten minutes',
        body: createSchema,
        response: { 201: createdSchema },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { token, secret } = await services.apiTokens.create({
        userId: principal.id,
        name: request.body.name,
        expiresAt: request.body.expires_at,
        latestExpiry: principal.expiresAt,
      });
      request.createdResource = `token/${token.id}`;
      reply.header('cache-control', 'no-store');
      return reply.status(201).send({ ...toTokenView(token, null), token: secret });
    },
  );

  app.delete(
    '/api/tokens/:id',
    {
      config: { action: 'token:delete', unheld: ENDS_OWN_RIGHT, scope: 'self', auditResource: namedResource('token') },
      schema: {
        tags: TAGS,
        summary:
          'Revoke an API token; requires a sign-in confirmed in the last ten minutes, unless a token revokes itself',
        params: paramsSchema,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      // A token may revoke itself, as `svc logout` does; revoking others requires the user's confirmation.
      if (request.params.id !== principal.credentialId) assertConfirmed(principal, services.now());
      await services.apiTokens.revoke(principal.id, request.params.id);
      return { id: request.params.id, deleted: true as const };
    },
  );
}

function toTokenView(token: ApiToken, currentId: string | null) {
  return {
    id: token.id,
    name: token.name,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
    current: token.id === currentId,
  };
}
