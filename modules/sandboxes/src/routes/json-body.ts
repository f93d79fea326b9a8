import type { HttpApp } from '@svc/http';

/**
 * Accepts empty JSON bodies, because existing clients send `Content-Type: application/json` with every request, even
 * without a body. A route that requires a body enforces it by its schema.
 */
export function acceptEmptyJson(app: HttpApp): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, String(body), done);
  });
}
