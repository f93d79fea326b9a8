import type { AppError } from '@svc/errors';
import { httpErrors } from './errors.ts';
import type { HttpApp } from './http-app.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { RouteTable } from './route-table.ts';

/** A path prefix with its own error shape, including for unknown routes. */
export interface ErrorFamily {
  prefix: string;
  render: ErrorRenderer;
}

/** The path's family determines the shape of errors outside of routes. */
export function findRenderer(families: readonly ErrorFamily[], url: string): ErrorRenderer {
  const path = pathOf(url);
  return families.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))?.render ?? renderFlatError;
}

/**
 * Answers 404 for an unknown path, and 405 with `Allow` for an unknown method. Runs before the body is read, so an
 * unknown path with an unknown content type is 404, not 415.
 */
export function answerUnknownRoutes(app: HttpApp, families: readonly ErrorFamily[]): void {
  const table = new RouteTable();
  app.addHook('onRoute', (route) => table.add(route.method, route.url));
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const error = createRefusal(request.method, pathOf(request.url), table);
    await reply
      .status(error.status)
      .headers(error.headers)
      .send(findRenderer(families, request.url)(error, request.id));
  });
}

function createRefusal(method: string, path: string, table: RouteTable): AppError {
  const allowed = table.methodsOf(path);
  const field = 'method';
  if (allowed.length === 0 || allowed.includes(method)) {
    return httpErrors.NOT_FOUND({ details: { reason: `no route ${method} ${path.slice(0, 200)}` } });
  }
  return httpErrors.METHOD_NOT_ALLOWED({
    details: { field, reason: `${method} is not one of ${allowed.join(', ')}`, allowed },
    headers: { allow: allowed.join(', ') },
  });
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
