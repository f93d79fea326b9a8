import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { SANDBOX } from '../domain/content/content-headers.ts';
import type { ManagementDeps } from './management-deps.ts';
import { createExchange, detectReader } from './objects/send-object.ts';
import { decodePublicKey, findPublicObject, sendPublicObject } from './public-objects.ts';
import { TAGS } from './schemas.ts';

export const PUBLIC_PREFIX = '/api/v1/public/object-store';

const HAS_BYTES = { type: 'string', format: 'binary' };

/** Serves public objects to browsers. A private object and a missing one get the same response. */
export function registerPublicRoutes(app: HttpApp, { services, publicOrigin }: ManagementDeps): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/t/:tenant_id/objects/*',
    // Public: each request checks that the object's owner has published it.
    config: { public: true },
    schema: {
      tags: TAGS,
      summary: 'Download a public object without credentials',
      description:
        'The rest of the path is the key, percent-encoded. Supports `Range`, `If-Range` and the conditional ' +
        'headers. Images (PNG, JPEG, GIF, WebP, AVIF), plain text, PDF, audio and video are shown inline; all ' +
        'other types are sent as attachments. If `object_store.public_objects.domain` gives public objects a ' +
        'separate origin, the response redirects there; the default domain, below `localhost`, only redirects ' +
        'page loads on this machine.',
      params: Type.Object({ tenant_id: Type.String({ maxLength: 64 }), '*': Type.String({ description: 'The key' }) }),
      querystring: Type.Object({ bucket: Type.String({ minLength: 1, maxLength: 63 }) }),
      response: {
        200: { description: 'The object', content: { '*/*': { schema: HAS_BYTES } } },
        206: { description: 'The requested range', content: { '*/*': { schema: HAS_BYTES } } },
        304: { description: 'Not modified', type: 'null' },
        307: { description: 'Redirects to the object in a separate origin', type: 'null' },
      },
    },
    handler: async (request, reply) => {
      const path = keyPathOf(request);
      const key = decodePublicKey(path);
      const { bucket: bucketName } = request.query;
      const object = await findPublicObject(services, { bucketName, tenantId: request.params.tenant_id, key });
      const location = publicOrigin.redirectFor(bucketName, path, request);
      if (location !== null) return await redirect(reply, location);
      await sendPublicObject(services, createExchange(request, reply), object, detectReader(request));
    },
  });
}

async function redirect(reply: FastifyReply, location: string): Promise<void> {
  await reply.headers({ 'cache-control': 'no-store', 'content-security-policy': SANDBOX }).redirect(location, 307);
}

/** Reads the raw URL, because the router decodes what must stay encoded, such as a slash. */
function keyPathOf(request: FastifyRequest): string {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  return path.split('/').slice(8).join('/');
}
