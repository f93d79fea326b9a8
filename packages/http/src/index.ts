export { createClientOfRequest, type ClientOfRequest, type RequestClient } from './client-of-request.ts';
export type { ConnectionSharesOptions, RefusedConnection } from './connection-shares.ts';
export { createHttpApp, type HttpAppOptions } from './app.ts';
export { CompiledSchemas } from './validation.ts';
export { useErrorRenderer, type ErrorAdapter } from './error-answers.ts';
export { httpErrors } from './errors.ts';
export { continueOnFirstRead } from './expect-continue.ts';
export {
  NEVER_FORWARDED,
  noForwarding,
  type FindOwner,
  type Forwarded,
  type ForwardedExchange,
  type Forwarding,
  type Hop,
  type Owned,
  type OwnedConnection,
  type OwnerFinders,
} from './forwarding.ts';
export { readForm, type FormFile, type FormOptions, type FormReader } from './form-reader.ts';
export { fromFrameworkError, type FailedRequest } from './framework-errors.ts';
export { grantedAccessOf, grantOf, principalOf } from './guard.ts';
export { registerHealthRoutes, type HealthOptions, type ReadinessCheck } from './health.ts';
export { nullable, type HttpApp } from './http-app.ts';
export { keepOpen } from './late-answers.ts';
export { createListener, type Listener, type ListenerOptions } from './listener.ts';
export { DEFAULT_LISTENER_LIMITS, type ListenerLimits } from './listener-limits.ts';
export { createMetricsHandler, registerMetricsRoute, type MetricsRouteOptions } from './metrics-route.ts';
export { renderOpenApiDocument } from './openapi.ts';
export {
  createDisabledModule,
  describeHoldings,
  serviceStateFields,
  type PlatformModule,
  type ServiceModule,
} from './platform-module.ts';
export { RateLimiter, rateLimitHeaders, type RateDecision, type RateLimit } from './rate-limit.ts';
export { callerKey, type RouteRateLimit } from './rate-limit-routes.ts';
export { IMAGE_LIMIT, ImageSender, registerRegistryCheck, REGISTRY_CHALLENGE, type StoredBytes } from './registry.ts';
export {
  renderE2bError,
  renderEnvelopeError,
  renderFlatError,
  renderNestedError,
  renderRegistryError,
  type ErrorRenderer,
} from './renderers.ts';
export { resolveRequestId } from './request-id.ts';
export { describeIssues, WITHOUT_NUL, type ValidationFinding, type ValidationIssue } from './validation-issues.ts';
export { refuseUpgrade, UpgradeRouter, type UpgradeHold, type UpgradeRequest, type UpgradeRoute } from './upgrades.ts';
export { whenClosed } from './when-closed.ts';
export type { ErrorFamily } from './unknown-routes.ts';
export { endToEndHeaders, type HeaderList } from './relay/relay-headers.ts';
export { MalformedAnswer } from './relay/answer-head.ts';
export { PlainConnections } from './relay/plain-connections.ts';
export { hasSmallBody, isPlain, readSmallBody, relayPlain } from './relay/relay-plain.ts';
export { relayRequest, RelayTimeout, type RelayTarget } from './relay/relay-request.ts';
export { relayUpgrade, type Join, type RelayedUpgrade } from './relay/relay-upgrade.ts';
