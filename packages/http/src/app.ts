import cookie from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Logger, Metrics } from '@svc/telemetry';
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Access, AuditLog } from './access.ts';
import { setAnswerHeaders } from './answer-headers.ts';
import { limitBodyTime } from './body-deadline.ts';
import { answerError, useErrorRenderer } from './error-answers.ts';
import { installGuard } from './guard.ts';
import { createHeldRights, type HeldRights } from './held-rights.ts';
import type { HttpApp } from './http-app.ts';
import { registerOpenApi } from './openapi.ts';
import { RouteRateLimits } from './rate-limit-routes.ts';
import { renderFlatError } from './renderers.ts';
import { requestIdOf } from './request-id.ts';
import { observeRequests } from './request-log.ts';
import { answerUnknownRoutes, rendererOf, type ErrorFamily } from './unknown-routes.ts';
import { createSerializerCompiler } from './serialization.ts';
import { createValidatorCompiler } from './validation.ts';
import { limitWorkspaces } from './workspace-limit.ts';
import { unlimitedTraffic, type WorkspaceTraffic } from './workspace-traffic.ts';

export interface HttpAppOptions {
  log: Logger;
  metrics: Metrics;
  access: Access;
  audit: AuditLog;
  /** Ends requests whose right is gone; shared with the upgrades. Its own by default. */
  rights?: HeldRights;
  version: string;
  /** Largest JSON body in bytes; routes that stream set their own. */
  bodyLimitBytes?: number;
  /** Time in which a JSON body must have arrived. */
  bodyTimeoutMs?: number;
  /** Proxies whose `X-Forwarded-*` is believed (addresses or networks); nobody by default. */
  trustedProxies?: readonly string[];
  /** Path families whose unknown routes do not answer the flat error; also what OpenAPI says of their errors. */
  errorFamilies?: readonly ErrorFamily[];
  /** What workspaces may ask; unlimited by default. */
  traffic?: WorkspaceTraffic;
  /** The clock of `config.rateLimit`, in milliseconds; `Date.now` by default. */
  nowMs?: () => number;
}

/** Makes the app without a listener; `createListener` puts it on a port. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const families = options.errorFamilies ?? [];
  const proxies = options.trustedProxies ?? [];
  const loggerInstance: FastifyBaseLogger = options.log;
  const app = fastify({
    loggerInstance,
    // One line per answer, made below with the URL redacted.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: options.bodyLimitBytes ?? 1024 * 1024,
    trustProxy: proxies.length === 0 ? false : [...proxies],
    genReqId: (request) => requestIdOf(request.headers),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
    // Before any route or hook: a path that is no valid percent-encoding.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      answerError(error, request, reply, rendererOf(families, request.url));
    },
    // Every connection is closed by the listener, which drains before it cuts: whoever still gets in is answered.
    return503OnClosing: false,
    forceCloseConnections: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  const untyped = app as unknown as FastifyInstance; // only the type provider differs
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());
  await app.register(cookie);
  await registerOpenApi(app, options.version, families);

  // The order of the hooks is the order of the refusals: unknown route, too many calls, who are you, may you, again.
  setAnswerHeaders(app);
  answerUnknownRoutes(app, families);
  const limits = new RouteRateLimits(options.nowMs ?? Date.now);
  limits.beforeGuard(untyped);
  const rights = options.rights ?? createHeldRights(options.log);
  if (options.rights === undefined) app.addHook('onClose', async () => rights.stop());
  installGuard(untyped, { access: options.access, audit: options.audit, rights });
  limits.afterGuard(untyped);
  limitWorkspaces(untyped, options.traffic ?? unlimitedTraffic);
  limitBodyTime(app, options.bodyTimeoutMs ?? 60_000);
  observeRequests(app, options.metrics);
  useErrorRenderer(app, renderFlatError);
  return app;
}
