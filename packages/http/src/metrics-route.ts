import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accessErrors, type Access } from '@svc/access';
import { toAppError, type AppError } from '@svc/errors';
import type { Metrics } from '@svc/telemetry';
import { httpErrors } from './errors.ts';
import type { HttpApp } from './http-app.ts';
import { renderFlatError } from './renderers.ts';
import { resolveRequestId } from './request-id.ts';

/** Options of the metrics route. */
export interface MetricsRouteOptions {
  metrics: Metrics;
  access: Access;
  /** Bearer token for scrapers. Without one, only operators can read metrics. */
  token?: string | undefined;
}

/** Scrapers ask every few seconds; token guessing is far more frequent. */
const SCRAPES = { by: 'address', perMinute: 300, burst: 300 } as const;

/** Registers `GET /metrics` for scrapers with the configured token and for operators. */
export function registerMetricsRoute(app: HttpApp, { metrics, access, token }: MetricsRouteOptions): void {
  app.get(
    '/metrics',
    {
      // Public to the guard because the scraper's token belongs to no user.
      config: { public: true, rateLimit: SCRAPES },
      schema: {
        tags: ['health'],
        summary: 'Get Prometheus metrics; requires metrics.token or an operator',
        produces: ['text/plain'],
      },
    },
    async (request, reply) => {
      if (!showsToken(request.raw, token)) {
        const { headers, method, ip, protocol } = request;
        const isSecure = protocol === 'https';
        const principal = await access.authenticate({ headers, method, remoteAddress: ip, isSecure });
        if (principal.operator !== true) throw accessErrors.FORBIDDEN();
      }
      return reply.header('content-type', metrics.registry.contentType).send(await metrics.render());
    },
  );
}

/** Creates the handler of a metrics-only listener: open to everyone unless a token is configured. */
export function createMetricsHandler({ metrics, token }: Pick<MetricsRouteOptions, 'metrics' | 'token'>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    const answer = async (): Promise<void> => {
      if (request.method !== 'GET') throw httpErrors.METHOD_NOT_ALLOWED({ headers: { allow: 'GET' } });
      if (request.url?.split('?', 1)[0] !== '/metrics') throw httpErrors.NOT_FOUND();
      if (token !== undefined && !showsToken(request, token)) {
        throw accessErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer' } });
      }
      const text = await metrics.render();
      response.writeHead(200, { 'content-type': metrics.registry.contentType, 'cache-control': 'no-store' }).end(text);
    };
    answer().catch((error: unknown) => refuse(request, response, toAppError(error)));
  };
}

function refuse(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const body = JSON.stringify(renderFlatError(error, resolveRequestId(request.headers)));
  response.writeHead(error.status, { ...error.headers, 'content-type': 'application/json; charset=utf-8' }).end(body);
}

/** Compares hashes, so that timing reveals neither content nor length of the token. */
function showsToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  const shown = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (shown === undefined || token === undefined) return false;
  return timingSafeEqual(hash('sha256', shown, 'buffer'), hash('sha256', token, 'buffer'));
}
