import cookie from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Logger, Metrics } from '@svc/telemetry';
import { redactText } from '@svc/telemetry';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Access, AuditLog } from './access.ts';
import { httpErrors } from './errors.ts';
import { fromFrameworkError } from './framework-errors.ts';
import { installGuard } from './guard.ts';
import { registerOpenApi } from './openapi.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { requestIdOf } from './request-id.ts';
import { createValidatorCompiler } from './validation.ts';

/** Fastify with TypeBox types: a route's schema is its validation, its types and its part of the OpenAPI document. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression<RawServerDefault>,
  RawReplyDefaultExpression<RawServerDefault>,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** All paths below a prefix answer errors in one shape, also where there is no route. */
export interface ErrorFamily {
  prefix: string;
  render: ErrorRenderer;
}

export interface HttpAppOptions {
  log: Logger;
  metrics: Metrics;
  access: Access;
  audit: AuditLog;
  version: string;
  /** Largest JSON body in bytes; routes that stream set their own. */
  bodyLimitBytes?: number;
  /** Proxies whose `X-Forwarded-For` is believed (addresses or networks); nobody by default. */
  trustedProxies?: readonly string[];
  /** Path families whose unknown routes do not answer the flat error. */
  errorFamilies?: readonly ErrorFamily[];
}

/** Makes the app without a listener; `createListener` puts it on a port. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const app = fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    disableRequestLogging: true, // one line per answer, made below with the URL redacted
    bodyLimit: options.bodyLimitBytes ?? 1024 * 1024,
    trustProxy:
      options.trustedProxies === undefined || options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    genReqId: (request) => requestIdOf(request.headers),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
    return503OnClosing: true,
    // Every connection is closed by the listener, which drains before it cuts.
    forceCloseConnections: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(createValidatorCompiler());
  await app.register(cookie);
  await registerOpenApi(app, options.version);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  installGuard(app as unknown as FastifyInstance, options.access, options.audit); // only the type provider differs
  observeRequests(app, options.metrics);
  useErrorRenderer(app, renderFlatError);
  answerUnknownRoutes(app, options.errorFamilies ?? []);
  return app;
}

/** Sets how this app, or this encapsulated part of it, answers errors. */
export function useErrorRenderer(app: HttpApp, render: ErrorRenderer): void {
  app.setErrorHandler((raw, request, reply) => {
    const error = fromFrameworkError(raw);
    if (error.status >= 500) request.log.error({ err: error.cause ?? error, code: error.code }, 'request failed');
    if (reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    void reply.status(error.status).headers(error.headers).send(render(error, request.id));
  });
}

/** Unknown routes have no module; the contract of their path family decides how the 404 looks. */
function answerUnknownRoutes(app: HttpApp, families: readonly ErrorFamily[]): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const family = families.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    const error = httpErrors.NOT_FOUND({ details: { reason: `no route ${request.method} ${path}` } });
    void reply.status(404).send((family?.render ?? renderFlatError)(error, request.id));
  });
}

function observeRequests(app: HttpApp, metrics: Metrics): void {
  const duration = metrics.histogram('svc_http_request_duration_seconds', 'Time to answer a request', [
    'method',
    'route',
    'status',
  ]);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    request.log.info(
      {
        request_id: request.id,
        method: request.method,
        url: redactText(request.url),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        remote: request.ip,
        principal: request.principal?.id,
      },
      'request',
    );
  });
}
