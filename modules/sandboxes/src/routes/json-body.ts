import type { HttpApp } from '@svc/http';

/**
 * Clients in use send `Content-Type: application/json` with every request, also with those that have no body. No body is no
 * error then; a route that needs one says so by its schema.
 */
export function acceptEmptyJson(app: HttpApp): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, String(body), done);
  });
}
