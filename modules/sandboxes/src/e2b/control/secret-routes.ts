import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { SECRET_NAME_PATTERN, SECRET_VALUE_PATTERN, type Secret } from '../../domain/secrets/secret.ts';
import type { SecretService } from '../../domain/secrets/secret-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { findSecret } from './header-rules.ts';

const MAX_PAGE_SIZE = 100;
/** Clients take a name that begins with it for the identifier of a secret. */
const ID_PREFIX = 'sec_';
const NAME = new RegExp(SECRET_NAME_PATTERN);

const valueSchema = Type.String({ pattern: SECRET_VALUE_PATTERN });
const metadataSchema = Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]));
const createSchema = Type.Object({
  name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' }),
  value: valueSchema,
  metadata: metadataSchema,
});
const updateSchema = Type.Object({ value: valueSchema, metadata: metadataSchema });
const params = Type.Object({ id: Type.String({ maxLength: 128 }) });
const listQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE })),
  nextToken: Type.Optional(Type.String({ maxLength: 128 })),
});

export interface SecretRouteDeps {
  readonly prefix: string;
  readonly secrets: SecretService;
}

/** `/secrets`: the workspace's secrets, by identifier or name. New ones have lower-case names, as with E2B. */
export function registerSecretRoutes(app: HttpApp, { prefix, secrets }: SecretRouteDeps): void {
  registerReads(app, { prefix, secrets });
  app.post(
    `${prefix}/secrets`,
    { config: { action: 'secret:create' }, schema: { hide: true, body: createSchema } },
    async (request, reply) => {
      const { value, metadata } = request.body;
      assertNoMetadata(metadata);
      const name = newName(request.body.name);
      const { workspaceUuid } = grantOf(request);
      const made = await secrets.create({ workspaceUuid, name, value, creatorId: principalOf(request).id });
      return reply.status(201).send(render(made));
    },
  );
  app.post(
    `${prefix}/secrets/:id`,
    { config: { action: 'secret:update' }, schema: { hide: true, params, body: updateSchema } },
    async (request) => {
      assertNoMetadata(request.body.metadata);
      const { workspaceUuid } = grantOf(request);
      const { name } = await findSecret(secrets, workspaceUuid, request.params.id);
      return render(await secrets.replace(workspaceUuid, name, request.body.value));
    },
  );
  app.delete(
    `${prefix}/secrets/:id`,
    { config: { action: 'secret:delete' }, schema: { hide: true, params } },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { name } = await findSecret(secrets, workspaceUuid, request.params.id);
      await secrets.remove(workspaceUuid, name);
      return reply.status(204).send();
    },
  );
}

function registerReads(app: HttpApp, { prefix, secrets }: SecretRouteDeps): void {
  app.get(
    `${prefix}/secrets`,
    { config: { action: 'secret:list' }, schema: { hide: true, querystring: listQuery } },
    async (request, reply) => {
      const { limit = MAX_PAGE_SIZE, nextToken = '' } = request.query;
      const all = await secrets.list(grantOf(request).workspaceUuid);
      // The token is the name of the last one, which may be gone.
      const left = all.filter(({ name }) => name > nextToken).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const last = left[limit - 1];
      if (last !== undefined && left.length > limit) reply.header('x-next-token', last.name);
      return left.slice(0, limit).map(render);
    },
  );
  app.get(
    `${prefix}/secrets/:id`,
    { config: { action: 'secret:list' }, schema: { hide: true, params } },
    async (request) => render(await findSecret(secrets, grantOf(request).workspaceUuid, request.params.id)),
  );
}

function newName(given: string): string {
  const name = given.toLowerCase();
  if (NAME.test(name) && !name.startsWith(ID_PREFIX)) return name;
  const reason = `must begin with a letter or _, and not with ${ID_PREFIX}`;
  throw sandboxErrors.INVALID_FIELD({ details: { field: 'name', reason } });
}

function assertNoMetadata(metadata: Readonly<Record<string, string>> | null | undefined): void {
  if (Object.keys(metadata ?? {}).length === 0) return;
  throw sandboxErrors.E2B_UNSUPPORTED({ details: { feature: 'Metadata of secrets', remedy: 'leave it out' } });
}

function render({ id, name, version, createdAt, updatedAt }: Secret) {
  return { secretID: id, name, currentVersion: version, metadata: {}, createdAt, updatedAt };
}
