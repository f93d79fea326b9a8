import type { HttpApp } from './http-app.ts';

/** What an answer of an API carries unless its route says otherwise. */
const DEFAULTS: Readonly<Record<string, string>> = {
  // A browser never guesses that JSON or a download is a page.
  'x-content-type-options': 'nosniff',
  // Paths hold names and ids; they are nobody else's business.
  'referrer-policy': 'no-referrer',
  // Answers depend on who asks. A cache in between must not keep them.
  'cache-control': 'no-store',
};

/** Shown as a page, JSON can neither run a script nor be framed. */
const JSON_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** The request's id on every answer, and the security headers of an API. A route's own headers win. */
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
