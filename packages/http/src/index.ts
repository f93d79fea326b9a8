export type {
  Access,
  Action,
  AuditEntry,
  AuditLog,
  AuthorizeRequest,
  CredentialSource,
  Grant,
  Principal,
  Role,
} from './access.ts';
export { createHttpApp, useErrorRenderer, type ErrorFamily, type HttpApp, type HttpAppOptions } from './app.ts';
export { httpErrors } from './errors.ts';
export { fromFrameworkError } from './framework-errors.ts';
export { grantOf, principalOf } from './guard.ts';
export { registerHealthRoutes, type HealthOptions, type ReadinessCheck } from './health.ts';
export {
  createListener,
  DEFAULT_LISTENER_LIMITS,
  type Listener,
  type ListenerLimits,
  type ListenerOptions,
} from './listener.ts';
export { RateLimiter, rateLimitHeaders, type RateDecision, type RateLimit } from './rate-limit.ts';
export { renderEnvelopeError, renderFlatError, renderNestedError, type ErrorRenderer } from './renderers.ts';
export { requestIdOf } from './request-id.ts';
export { refuseUpgrade, UpgradeRouter, type UpgradeRequest, type UpgradeRoute } from './upgrades.ts';
