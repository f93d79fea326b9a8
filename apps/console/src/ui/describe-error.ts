import { ApiError, NetworkError, TimeoutError } from '@svc/sdk';

/** Refusals with such a status that are no fault of the platform, and say themselves what is in the way. */
const NAMED: ReadonlySet<string> = new Set([
  'AGENT_OFFLINE',
  'KUBERNETES_ERROR',
  'KUBERNETES_UNAVAILABLE',
  'TIMEOUT',
  'TUNNEL_BACKEND_UNREACHABLE',
  'TUNNEL_BUSY',
  'TUNNEL_TIMEOUT',
  'UNAVAILABLE',
  'UNSUPPORTED',
]);

/** What went wrong, in one sentence for a person. */
export function describeError(error: unknown): string {
  if (error instanceof NetworkError) return 'Cannot reach the platform. Check your connection and try again.';
  if (error instanceof TimeoutError) return 'The request timed out. Try again.';
  if (error instanceof ApiError && error.status >= 500 && !NAMED.has(error.code))
    return 'Something went wrong on the platform. Try again.';
  if (error instanceof ApiError && error.code === 'AGENT_OFFLINE') return offlineWords(error);
  if (error instanceof Error) return error.message;
  return 'Something went wrong.';
}

/** An agent may be connected and have no tunnel, through which most of what runs in its cluster is read. */
function offlineWords({ message, details }: ApiError): string {
  const reason = details['reason'];
  return typeof reason === 'string' && reason !== message ? `${message}: ${reason}.` : message;
}

/** The id of a request that failed in the platform, which finds it in the log; null for refusals. */
export function faultRequestId(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.status < 500 || NAMED.has(error.code)) return null;
  return error.requestId;
}
