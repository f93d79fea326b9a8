import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { SANDBOX } from '../domain/content/content-headers.ts';
import type { ManagementDeps } from './management-deps.ts';
import { exchangeOf, readerOf } from './objects/send-object.ts';
import { decodePublicKey, findPublicObject, sendPublicObject } from './public-objects.ts';
import { TAGS } from './schemas.ts';

export const PUBLIC_PREFIX = '/api/v1/public/object-store';

const HAS_BYTES = { type: 'string', format: 'binary' };

/** What buckets and objects make public, for browsers. A private object and one that is not are told apart by nothing. */
export function registerPublicRoutes(app: HttpApp, { services, publicOrigin }: ManagementDeps): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/t/:tenant_id/objects/*',
    // Only what its owner made public is answered, and the decision is made for each object.
    config: { public: true },
    schema: {
      tags: TAGS,
      summary: 'Read an object that is public; no credentials',
      description:
        'The key is the rest of the path, percent-encoded. Takes `Range`, `If-Range` and the conditional headers. Pictures (PNG, JPEG, GIF, WebP, AVIF), plain text, PDF, audio and video are shown; every other type is an attachment. Where `object_store.public_objects.domain` gives public objects an origin of their own, the answer is a redirect to it; its default, below `localhost`, is for page loads on this machine only.',
      params: Type.Object({ tenant_id: Type.String({ maxLength: 64 }), '*': Type.String({ description: 'The key.' }) }),
      querystring: Type.Object({ bucket: Type.String({ minLength: 1, maxLength: 63 }) }),
      response: {
        200: { description: 'The object.', content: { '*/*': { schema: HAS_BYTES } } },
        206: { description: 'A range of it.', content: { '*/*': { schema: HAS_BYTES } } },
        304: { description: 'The caller has it already.', type: 'null' },
        307: { description: 'It is at `Location`, in an origin of its own.', type: 'null' },
      },
    },
    handler: async (request, reply) => {
      const path = keyPathOf(request);
      const key = decodePublicKey(path);
      const { bucket: bucketName } = request.query;
      const object = await findPublicObject(services, { bucketName, tenantId: request.params.tenant_id, key });
      const location = publicOrigin.redirectFor(bucketName, path, request);
      if (location !== null) return await redirect(reply, location);
      await sendPublicObject(services, exchangeOf(request, reply), object, readerOf(request));
    },
  });
}

async function redirect(reply: FastifyReply, location: string): Promise<void> {
  await reply.headers({ 'cache-control': 'no-store', 'content-security-policy': SANDBOX }).redirect(location, 307);
}

/** From the raw URL: the router joins what it should not, such as a slash that was encoded. */
function keyPathOf(request: FastifyRequest): string {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  return path.split('/').slice(8).join('/');
}
