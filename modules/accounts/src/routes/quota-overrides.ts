import { type HttpApp, nullable } from '@svc/http';
import { MAX_LIMIT } from '@svc/quotas';
import { type Static, Type } from 'typebox';
import type { QuotaOverride } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { namedResource } from './created-resource.ts';
import { quotaScopeSchema, quotaStateSchema, toQuotaStateView } from './quota-schemas.ts';
import { idSchema, timestampSchema } from './schemas.ts';

const TAGS = ['quotas'];
const SUBJECT_PATH = '/api/v1/admin/quotas/:scope/:subject';
const PATH = `${SUBJECT_PATH}/:quota` as const;

const overrideSchema = Type.Object({
  scope: quotaScopeSchema,
  subject: Type.String({ description: 'UUID of the workspace or user ID of the owner' }),
  quota: Type.String(),
  limit: nullable(Type.Number({ description: 'Null: unlimited' })),
  updated_at: timestampSchema,
});

const subjectSchema = Type.Object({
  scope: quotaScopeSchema,
  subject: Type.String({
    minLength: 1,
    maxLength: 254,
    description: 'UUID of the workspace, or email or user ID of the owner',
  }),
});
const paramsSchema = Type.Object({ ...subjectSchema.properties, quota: idSchema });
const bodySchema = Type.Object(
  { limit: nullable(Type.Number({ minimum: 0, maximum: MAX_LIMIT, description: 'Null: unlimited' })) },
  { additionalProperties: false },
);

export function registerQuotaOverrides(app: HttpApp, { quotas }: AccountServices): void {
  app.get(
    '/api/v1/admin/quotas',
    {
      config: { action: 'quota:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List the limits set by the operator for workspaces and owners',
        response: { 200: Type.Object({ overrides: Type.Array(overrideSchema) }) },
      },
    },
    async () => ({ overrides: (await quotas.list()).map(toOverrideView) }),
  );

  app.get(
    SUBJECT_PATH,
    {
      config: { action: 'quota:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'Get the limits and usage of any workspace or owner',
        params: subjectSchema,
        response: { 200: Type.Object({ quotas: Type.Array(quotaStateSchema) }) },
      },
    },
    async (request) => {
      const { scope, subject } = request.params;
      return { quotas: (await quotas.ofSubject(await quotas.resolve(scope, subject))).map(toQuotaStateView) };
    },
  );

  app.put(
    PATH,
    {
      config: { action: 'quota:update', scope: 'self', auditResource: namedResource('quota') },
      schema: {
        tags: TAGS,
        summary: 'Set a limit for a workspace or an owner; takes effect within a second',
        params: paramsSchema,
        body: bodySchema,
        response: { 200: overrideSchema },
      },
    },
    async (request) => {
      const { scope, subject, quota } = request.params;
      return toOverrideView(await quotas.set(await quotas.resolve(scope, subject), quota, request.body.limit));
    },
  );

  app.delete(
    PATH,
    {
      config: { action: 'quota:update', scope: 'self', auditResource: namedResource('quota') },
      schema: {
        tags: TAGS,
        summary: 'Reset a limit of a workspace or an owner to the default',
        params: paramsSchema,
        response: { 200: Type.Object({ deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { scope, subject, quota } = request.params;
      await quotas.unset(await quotas.resolve(scope, subject), quota);
      return { deleted: true as const };
    },
  );
}

function toOverrideView({ scope, subject, quota, amount, updatedAt }: QuotaOverride): Static<typeof overrideSchema> {
  return { scope, subject, quota, limit: amount, updated_at: updatedAt };
}
