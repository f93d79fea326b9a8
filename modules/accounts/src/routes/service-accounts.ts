import { grantOf, type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { pageRequest } from '../domain/paging.ts';
import type { ServiceAccount } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { boundsOf, parseScopes } from '../domain/tokens/service-accounts.ts';
import { createdResource, namedResource } from './created-resource.ts';
import {
  deletedSchema,
  expirySchema,
  idSchema,
  listSchema,
  nameSchema,
  scopeSchema,
  teamPageQuerySchema,
  teamQuerySchema,
  timestampSchema,
} from './schemas.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['workspaces'];

const accountProperties = {
  id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(scopeSchema),
  created_by: Type.String({ description: 'ID of the user or service account' }),
  created_at: timestampSchema,
  expires_at: nullable(timestampSchema),
  last_used_at: nullable(Type.String({ description: 'Rounded to the minute' })),
};
const accountSchema = Type.Object(accountProperties);
const createdSchema = Type.Object({ ...accountProperties, token: Type.String({ description: 'Shown only once' }) });
const createSchema = Type.Object(
  {
    name: nameSchema,
    scopes: Type.Array(scopeSchema, { minItems: 1, maxItems: 3, uniqueItems: true }),
    expires_at: expirySchema,
    token_format: Type.Optional(
      Type.Union([Type.Literal('svc'), Type.Literal('e2b')], {
        description: '`e2b` creates a key that E2B clients accept; `svc` by default',
      }),
    ),
  },
  { additionalProperties: false },
);
const renameSchema = Type.Object({ name: nameSchema }, { additionalProperties: false });
const workspaceParamsSchema = Type.Object({ workspace_uuid: idSchema });
const paramsSchema = Type.Object({ workspace_uuid: idSchema, id: idSchema });

export function registerServiceAccounts(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/workspaces/:workspace_uuid/service-accounts',
    {
      config: { action: 'service-account:list' },
      schema: {
        tags: TAGS,
        summary: 'List the service accounts of a workspace',
        params: workspaceParamsSchema,
        querystring: teamPageQuerySchema,
        response: { 200: listSchema('service_accounts', accountSchema) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const page = await services.serviceAccounts.list(workspaceUuid, pageRequest(request.query));
      return { service_accounts: page.items.map(toAccountView), next_cursor: page.nextCursor };
    },
  );

  app.post(
    '/api/v1/workspaces/:workspace_uuid/service-accounts',
    {
      config: { action: 'service-account:create', auditResource: createdResource('service-account') },
      schema: {
        tags: TAGS,
        summary:
          'Create a service account; if created with an API token or another service account, it ends with that credential',
        params: workspaceParamsSchema,
        querystring: teamQuerySchema,
        body: createSchema,
        response: { 201: createdSchema },
      },
    },
    async (request, reply) => {
      const { account, secret } = await services.serviceAccounts.create({
        workspaceUuid: grantOf(request).workspaceUuid,
        name: request.body.name,
        scopes: request.body.scopes,
        tokenFormat: request.body.token_format ?? 'svc',
        expiresAt: request.body.expires_at,
        ...boundsOf(principalOf(request)),
      });
      request.createdResource = `service-account/${account.id}`;
      reply.header('cache-control', 'no-store');
      return reply.status(201).send({ ...toAccountView(account), token: secret });
    },
  );
  registerChanges(app, services);
}

function registerChanges(app: HttpApp, services: AccountServices): void {
  app.patch(
    '/api/v1/workspaces/:workspace_uuid/service-accounts/:id',
    {
      config: { action: 'service-account:update', auditResource: namedResource('service-account') },
      schema: {
        tags: TAGS,
        summary: 'Rename a service account',
        params: paramsSchema,
        querystring: teamQuerySchema,
        body: renameSchema,
        response: { 200: Type.Object({ id: Type.String(), name: Type.String() }) },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { name } = request.body;
      await services.serviceAccounts.rename(grantOf(request).workspaceUuid, id, name);
      return { id, name };
    },
  );

  app.delete(
    '/api/v1/workspaces/:workspace_uuid/service-accounts/:id',
    {
      config: {
        action: 'service-account:delete',
        unheld: ENDS_OWN_RIGHT,
        auditResource: namedResource('service-account'),
      },
      schema: {
        tags: TAGS,
        summary: 'Revoke a service account',
        params: paramsSchema,
        querystring: teamQuerySchema,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      await services.serviceAccounts.revoke(grantOf(request).workspaceUuid, request.params.id);
      return { id: request.params.id, deleted: true as const };
    },
  );
}

function toAccountView(account: ServiceAccount) {
  return {
    id: account.id,
    name: account.name,
    scopes: parseScopes(account),
    created_by: account.createdBy,
    created_at: account.createdAt,
    expires_at: account.expiresAt,
    last_used_at: account.lastUsedAt,
  };
}
