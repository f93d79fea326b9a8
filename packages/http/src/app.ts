import type { IncomingMessage } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type Access, type AuditLog, createHeldRights, type HeldRights } from '@svc/access';
import { unlimitedTraffic, type WorkspaceTraffic, type TrafficRefusal } from '@svc/quotas';
import { type Logger, type Metrics, redactText } from '@svc/telemetry';
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifySerializerCompiler,
} from 'fastify';
import { answerError, useErrorRenderer } from './error-answers.ts';
import { admitHops, forwardToOwners, noForwarding, type Forwarding } from './forwarding.ts';
import { installGuard } from './guard.ts';
import type { HttpApp } from './http-app.ts';
import { keepForLateAnswers } from './late-answers.ts';
import { registerOpenApi } from './openapi.ts';
import { RouteRateLimits } from './rate-limit-routes.ts';
import { renderFlatError } from './renderers.ts';
import { resolveRequestId } from './request-id.ts';
import { answerUnknownRoutes, findRenderer, type ErrorFamily } from './unknown-routes.ts';
import { CompiledSchemas, createValidatorCompiler } from './validation.ts';
import fastJson from 'fast-json-stringify';
import { httpErrors } from './errors.ts';

const MAX_LOGGED_URL_CHARACTERS = 1024;

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
function setAnswerHeaders(app: HttpApp): void {
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

/** Options of the HTTP app. */
export interface HttpAppOptions {
  log: Logger;
  metrics: Metrics;
  access: Access;
  audit: AuditLog;
  /** Ends requests whose rights are revoked; shared with upgrades. Defaults to a separate instance. */
  rights?: HeldRights;
  version: string;
  /** Maximum JSON body size in bytes; streaming routes set their own limit. */
  bodyLimitBytes?: number;
  /** Time limit for receiving a JSON body. */
  bodyTimeoutMs?: number;
  /** Proxies (addresses or networks) whose `X-Forwarded-*` headers are trusted; none by default. */
  trustedProxies?: readonly string[];
  /** Path families with their own error shape for unknown routes; also used for the errors in OpenAPI. */
  errorFamilies?: readonly ErrorFamily[];
  /** Rate limits of workspaces; unlimited by default. */
  traffic?: WorkspaceTraffic;
  /** Passes requests to the replicas that hold what they are about. Defaults to none. */
  forwarding?: Forwarding;
  /** How many replicas share the limits of `config.rateLimit` now. Defaults to one. */
  replicas?: () => number;
  /** Clock of `config.rateLimit`, in milliseconds. Defaults to `Date.now`. */
  nowMs?: () => number;
  /** Shared by apps with the same routes, so that each schema is compiled once. Defaults to a separate instance. */
  schemas?: CompiledSchemas;
}

/** Creates the app without listening; `createListener` binds it to a port. */
export async function createHttpApp(options: HttpAppOptions): Promise<HttpApp> {
  const families = options.errorFamilies ?? [];
  const proxies = options.trustedProxies ?? [];
  const loggerInstance: FastifyBaseLogger = options.log;
  const app = fastify({
    loggerInstance,
    // The app logs one line per response itself, with the URL redacted.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: options.bodyLimitBytes ?? 1024 * 1024,
    trustProxy: proxies.length === 0 ? false : [...proxies],
    genReqId: (request) => resolveRequestId(request.headers),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
    // Handles paths with invalid percent-encoding, before any route or hook.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      answerError(error, request, reply, findRenderer(families, request.url));
    },
    // The listener drains and closes connections. Requests that still arrive are answered.
    return503OnClosing: false,
    forceCloseConnections: false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  const untyped = app as unknown as FastifyInstance; // only the type provider differs
  const { schemas = new CompiledSchemas() } = options;
  app.setValidatorCompiler(createValidatorCompiler(schemas));
  app.setSerializerCompiler(createSerializerCompiler(schemas));
  await registerOpenApi(app, options.version, families);

  // The order of the hooks decides which refusal wins: unknown route, rate limit, authentication, authorization, rate
  // limit. Then the request goes to its owner.
  setAnswerHeaders(app);
  answerUnknownRoutes(app, families);
  const { forwarding = noForwarding } = options;
  admitHops(app, forwarding);
  const isForwarded = (request: IncomingMessage): boolean => forwarding.hopOf(request) !== null;
  const isCounted = (request: IncomingMessage): boolean => !isForwarded(request);
  const { nowMs = Date.now, replicas = () => 1 } = options;
  const limits = new RouteRateLimits({ nowMs, isCounted, replicas });
  limits.beforeGuard(untyped);
  const rights = options.rights ?? createHeldRights(options.log);
  if (options.rights === undefined) app.addHook('onClose', async () => rights.stop());
  installGuard(untyped, { access: options.access, audit: options.audit, rights, isForwarded });
  limits.afterGuard(untyped);
  limitWorkspaces(untyped, options.traffic ?? unlimitedTraffic, isCounted);
  forwardToOwners(app, forwarding);
  limitBodyTime(app, options.bodyTimeoutMs ?? 60_000);
  keepForLateAnswers(app);
  observeRequests(app, options.metrics);
  useErrorRenderer(app, renderFlatError);
  return app;
}

/**
 * Limits the time to receive a JSON body, which is small and buffered in memory. Streamed bodies may take hours; the
 * listener cuts those whose client has stopped sending.
 */
function limitBodyTime(app: HttpApp, timeoutMs: number): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.routeOptions.config.rawBody === true) return payload; // raw content that happens to be JSON
    if (!/\bjson\b/.test(request.headers['content-type'] ?? '')) return payload;
    const timer = setTimeout(() => request.raw.destroy(), timeoutMs);
    const stop = (): void => clearTimeout(timer);
    request.raw.once('end', stop).once('close', stop);
    return payload;
  });
}

/** Compiles a route's serializer at its first response, for the same reason as its validator. */
function createSerializerCompiler({ responses }: CompiledSchemas): FastifySerializerCompiler<unknown> {
  return ({ schema }) => {
    const shape = schema as fastJson.Schema & object; // untyped in Fastify; a route's schema is a JSON Schema
    return (data: unknown) => {
      const serialize = responses.get(shape) ?? fastJson(shape);
      responses.set(shape, serialize);
      return serialize(data);
    };
  };
}

/** Logs one line and records one observation per response. The request's logger adds `request_id`. */
function observeRequests(app: HttpApp, metrics: Metrics): void {
  const labels = ['method', 'route', 'status'] as const;
  const duration = metrics.histogram('svc_http_request_duration_seconds', 'Time to answer a request', labels);
  app.addHook('onResponse', async (request, reply) => {
    // The route pattern, not the path, bounds the number of time series.
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    request.log.info(
      {
        method: request.method,
        http_version: request.raw.httpVersion,
        url: redactText(request.url).slice(0, MAX_LOGGED_URL_CHARACTERS),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        remote: request.ip,
        principal: request.principal?.id,
        ...(reply.raw.writableFinished ? {} : { aborted: true }),
      },
      'request',
    );
  });
}

/**
 * Counts each call of a workspace-scoped route against its workspace, for every principal and credential. `isCounted`:
 * false for requests that another replica has counted.
 */
function limitWorkspaces(
  app: FastifyInstance,
  traffic: WorkspaceTraffic,
  isCounted: (request: IncomingMessage) => boolean = () => true,
): void {
  app.addHook('onRequest', async ({ grant, raw }) => {
    if (grant === null || !isCounted(raw)) return;
    const refusal = await traffic.admit(grant.workspaceUuid);
    if (refusal !== null) throw tooManyRequests(refusal);
  });
}

function tooManyRequests({ quota, scope, limit, retryAfterSeconds }: TrafficRefusal): Error {
  const subject = quota === null ? 'the platform is busy' : `the ${scope} may make ${limit} requests per second`;
  return httpErrors.TOO_MANY_REQUESTS({
    details: {
      quota,
      scope,
      limit,
      retry_after_seconds: retryAfterSeconds,
      reason: `${subject}; try again in ${retryAfterSeconds} s`,
    },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}
