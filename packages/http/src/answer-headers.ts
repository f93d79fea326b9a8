import type { HttpApp } from './http-app.ts';

/** Headers of every API response unless the route sets them. */
const DEFAULTS: Readonly<Record<string, string>> = {
  // Keeps browsers from treating JSON or a download as a page.
  'x-content-type-options': 'nosniff',
  // Paths hold names and ids, so don't leak them to other sites.
  'referrer-policy': 'no-referrer',
  // Responses depend on the caller; caches must not keep them.
  'cache-control': 'no-store',
};

/** Opened as a page, JSON can neither run scripts nor be framed. */
const JSON_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Adds the request id and the security headers to every response. A route's own headers take precedence. */
export function setAnswerHeaders(app: HttpApp): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
    const contentType = String(reply.getHeader('content-type') ?? '');
    if (contentType.startsWith('application/json') && !reply.hasHeader('content-security-policy')) {
      reply.header('content-security-policy', JSON_POLICY);
    }
  });
}
