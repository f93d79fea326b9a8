import { type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { pageRequest } from '../domain/paging.ts';
import type { SshKey } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { createdResource, namedResource } from './created-resource.ts';
import { deletedSchema, idSchema, listSchema, nameSchema, pageQuerySchema, timestampSchema } from './schemas.ts';

const TAGS = ['accounts'];
/** Above the longest RSA key that is accepted, with a comment. */
const MAX_KEY_CHARACTERS = 4096;

const keySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String({ description: 'Such as `ssh-ed25519`' }),
  fingerprint: Type.String({ description: 'SHA-256 fingerprint, as `ssh-keygen -l` shows it' }),
  public_key: Type.String(),
  created_at: timestampSchema,
  last_used_at: nullable(Type.String({ description: 'Rounded to the minute' })),
});
const createSchema = Type.Object(
  {
    name: nameSchema,
    public_key: Type.String({
      minLength: 1,
      maxLength: MAX_KEY_CHARACTERS,
      description: 'One line, as in a `.pub` file: Ed25519, ECDSA, or RSA with at least 2048 bits',
    }),
  },
  { additionalProperties: false },
);

/** Routes of the keys that a user logs in with over SSH. */
export function registerSshKeys(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/ssh-keys',
    {
      config: { action: 'ssh-key:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List your SSH keys',
        querystring: pageQuerySchema,
        response: { 200: listSchema('ssh_keys', keySchema) },
      },
    },
    async (request) => {
      const { items, nextCursor } = await services.sshKeys.list(principalOf(request).id, pageRequest(request.query));
      return { ssh_keys: items.map(toKeyView), next_cursor: nextCursor };
    },
  );

  app.post(
    '/api/ssh-keys',
    {
      config: { action: 'ssh-key:create', scope: 'self', auditResource: createdResource('ssh-key') },
      schema: {
        tags: TAGS,
        summary: 'Register an SSH key; requires a sign-in confirmed in the last ten minutes',
        body: createSchema,
        response: { 201: keySchema },
      },
    },
    async (request, reply) => {
      const { name, public_key: publicKey } = request.body;
      const key = await services.sshKeys.add(principalOf(request).id, name, publicKey);
      request.createdResource = `ssh-key/${key.id}`;
      return reply.status(201).send(toKeyView(key));
    },
  );

  app.delete(
    '/api/ssh-keys/:id',
    {
      config: { action: 'ssh-key:delete', scope: 'self', auditResource: namedResource('ssh-key') },
      schema: {
        tags: TAGS,
        summary: 'Remove an SSH key; requires a sign-in confirmed in the last ten minutes',
        params: Type.Object({ id: idSchema }),
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      await services.sshKeys.remove(principalOf(request).id, request.params.id);
      return { id: request.params.id, deleted: true as const };
    },
  );
}

function toKeyView({ id, name, publicKey, fingerprint, createdAt, lastUsedAt }: SshKey) {
  const [type = ''] = publicKey.split(' ');
  const times = { created_at: createdAt, last_used_at: lastUsedAt };
  return { id, name, type, fingerprint, public_key: publicKey, ...times };
}
