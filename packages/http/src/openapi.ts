import swagger from '@fastify/swagger';
import { PLATFORM_COOKIES } from '@svc/access';
import type { HttpApp } from './http-app.ts';
import { completeDocument, type OpenApiDocument } from './openapi-document.ts';
import { findRenderer, type ErrorFamily } from './unknown-routes.ts';

/**
 * Collects the schemas of all routes registered afterwards; `app.swagger()` and `renderOpenApiDocument` return the
 * OpenAPI 3.1 document.
 */
export async function registerOpenApi(app: HttpApp, version: string, families: readonly ErrorFamily[]): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version,
        description: 'A self-hosted platform for clusters, object storage and sandboxes',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token (`svc_pat_…`), a service account token (`sat_…`) or a JWT',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: PLATFORM_COOKIES.session.name,
            description:
              'Session cookie of the console. Changes require the `X-CSRF-Token` header. With TLS, the cookie name ' +
              'starts with `__Host-`.',
          },
        },
      },
      security: [{ bearer: [] }, { session: [] }],
    },
    hideUntagged: false,
    transform: ({ schema, url, route }) => {
      const isPublic = route.config?.public === true;
      return { schema: { ...schema, ...(isPublic ? { security: [] } : {}) }, url };
    },
    transformObject: (documents) => {
      if (!('openapiObject' in documents)) return documents.swaggerObject;
      const document = documents.openapiObject as OpenApiDocument; // the plugin's type is wider than its output
      return completeDocument(document, (path) => findRenderer(families, path));
    },
  });
}

/** Renders the document as committed: ordered by routes only, with a trailing newline. */
export function renderOpenApiDocument(app: HttpApp): string {
  return `${JSON.stringify(app.swagger(), null, 2)}\n`;
}
