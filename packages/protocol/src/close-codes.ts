/**
 * WebSocket close codes of the agent channel. 1xxx are those of RFC 6455 and its registry; 4xxx are ours and mirror the
 * HTTP status with the same meaning. The close reason is a short sentence without secrets.
 */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  policyViolation: 1008,
  frameTooBig: 1009,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  /** The peer repeatedly sent frames that are not envelopes. */
  malformed: 4400,
  /** The token is unknown, revoked or belongs to another cluster: reload it, then retry slowly. */
  unauthorized: 4401,
  /** The cluster was deleted or disabled: retry very slowly. */
  forbidden: 4403,
  /** The peer did not answer a ping in time. */
  timedOut: 4408,
  /** A newer connection of the same cluster took over: do not compete with it. */
  replaced: 4409,
  rateLimited: 4429,
  /** This platform replica is stopping: reconnect, and another one takes over. */
  draining: 4503,
} as const;

/** A close code that the platform or an agent sends. Receivers must accept any other code; see `reconnectAdvice`. */
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES];

/** How a client should reconnect after a close. */
export type ReconnectAdvice = 'soon' | 'immediately' | 'slowly' | 'after-token-change';

/** Advice for any close code, including those of intermediate proxies (1006 and the like). */
export function reconnectAdvice(code: number): ReconnectAdvice {
  switch (code) {
    case CLOSE_CODES.draining:
    case CLOSE_CODES.serviceRestart:
      return 'immediately';
    case CLOSE_CODES.unauthorized:
      return 'after-token-change';
    case CLOSE_CODES.forbidden:
    case CLOSE_CODES.replaced:
    case CLOSE_CODES.policyViolation:
    case CLOSE_CODES.rateLimited:
    case CLOSE_CODES.tryAgainLater:
      return 'slowly';
    default:
      return 'soon';
  }
}
