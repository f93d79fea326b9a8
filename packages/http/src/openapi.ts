import swagger from '@fastify/swagger';
import type { HttpApp } from './app.ts';

/** Collects the schemas of all routes that are registered after this; `app.swagger()` gives the OpenAPI 3.1 document. */
export async function registerOpenApi(app: HttpApp, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version,
        description: 'Clusters, object store and sandboxes behind one command.',
        license: { name: 'Apache-2.0' },
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    hideUntagged: false,
  });
}
