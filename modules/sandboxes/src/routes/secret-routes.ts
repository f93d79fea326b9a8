import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import { SECRET_NAME_PATTERN, SECRET_VALUE_PATTERN, type Secret } from '../domain/secrets/secret.ts';
import type { SecretService } from '../domain/secrets/secret-service.ts';
import { workspaceQuerySchema } from './schemas.ts';

const tags = ['secrets'];

const nameSchema = Type.String({
  pattern: SECRET_NAME_PATTERN,
  description: 'Letters, digits, _, . and -, beginning with a letter or _; at most 128',
});
const valueSchema = Type.String({
  pattern: SECRET_VALUE_PATTERN,
  description: 'Printable ASCII, at most 8192 characters; never returned',
});
const paramsSchema = Type.Object({ name: Type.String({ maxLength: 128 }) });

const secretSchema = Type.Object({
  name: Type.String(),
  version: Type.Integer({ description: 'Version of the value, from 1' }),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
});

/** `/api/secrets`. No route returns a value. */
export function registerSecretRoutes(app: HttpApp, secrets: SecretService): void {
  registerReads(app, secrets);
  const querystring = workspaceQuerySchema;
  app.post(
    '/api/secrets',
    {
      config: { action: 'secret:create' },
      schema: {
        tags,
        summary: 'Create a secret',
        querystring,
        body: Type.Object({ name: nameSchema, value: valueSchema }, { additionalProperties: false }),
        response: { 201: secretSchema },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { id: creatorId } = principalOf(request);
      const made = await secrets.create({ workspaceUuid, creatorId, ...request.body });
      return reply.status(201).header('location', `/api/secrets/${made.name}`).send(render(made));
    },
  );
  app.put(
    '/api/secrets/:name',
    {
      config: { action: 'secret:update' },
      schema: {
        tags,
        summary: 'Replace the value of a secret; requests get the new one within two seconds',
        params: paramsSchema,
        querystring,
        body: Type.Object({ value: valueSchema }, { additionalProperties: false }),
        response: { 200: secretSchema },
      },
    },
    async (request) =>
      render(await secrets.replace(grantOf(request).workspaceUuid, request.params.name, request.body.value)),
  );
  app.delete(
    '/api/secrets/:name',
    {
      config: { action: 'secret:delete' },
      schema: {
        tags,
        summary: 'Delete a secret; requests stop carrying it within two seconds',
        params: paramsSchema,
        querystring,
        response: { 200: Type.Object({ name: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { name } = request.params;
      await secrets.remove(grantOf(request).workspaceUuid, name);
      return { name, deleted: true as const };
    },
  );
}

function registerReads(app: HttpApp, secrets: SecretService): void {
  app.get(
    '/api/secrets',
    {
      config: { action: 'secret:list' },
      schema: {
        tags,
        summary: 'List secrets by name, without their values',
        querystring: workspaceQuerySchema,
        response: { 200: Type.Object({ secrets: Type.Array(secretSchema), count: Type.Integer() }) },
      },
    },
    async (request) => {
      const found = (await secrets.list(grantOf(request).workspaceUuid)).map(render);
      return { secrets: found, count: found.length };
    },
  );
  app.get(
    '/api/secrets/:name',
    {
      config: { action: 'secret:list' },
      schema: {
        tags,
        summary: 'Get a secret, without its value',
        params: paramsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: secretSchema },
      },
    },
    async (request) => render(await secrets.get(grantOf(request).workspaceUuid, request.params.name)),
  );
}

function render({ name, version, createdAt, updatedAt }: Secret): Static<typeof secretSchema> {
  return { name, version, created_at: createdAt, updated_at: updatedAt };
}
