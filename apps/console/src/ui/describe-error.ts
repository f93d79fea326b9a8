import { ApiError, NetworkError, TimeoutError } from '@svc/sdk';

/** Errors with a server status that are not faults of the platform and describe the problem themselves. */
const NAMED: ReadonlySet<string> = new Set([
  'AGENT_OFFLINE',
  'DISK_FULL',
  'HOST_DISK_FULL',
  'KUBERNETES_ERROR',
  'KUBERNETES_UNAVAILABLE',
  'REPLICA_LOST',
  'REPLICA_UNREACHABLE',
  'TIMEOUT',
  'TUNNEL_BACKEND_UNREACHABLE',
  'TUNNEL_BUSY',
  'TUNNEL_TIMEOUT',
  'UNAVAILABLE',
  'UNSUPPORTED',
  'VOLUMES_BUSY',
  'VOLUMES_UNAVAILABLE',
  'VOLUME_UNREACHABLE',
]);

/** Describes an error in one sentence. */
export function describeError(error: unknown): string {
  if (error instanceof NetworkError) return 'Cannot reach the platform. Check your connection and try again.';
  if (error instanceof TimeoutError) return 'The request timed out. Try again.';
  if (error instanceof ApiError && error.status >= 500 && !NAMED.has(error.code))
    return 'Something went wrong on the platform. Try again.';
  if (error instanceof ApiError && error.code === 'AGENT_OFFLINE') return describeOffline(error);
  if (error instanceof Error) return error.message;
  return 'Something went wrong.';
}

/** A connected agent may have no tunnel, which most of the cluster's data requires. */
function describeOffline({ message, details }: ApiError): string {
  const reason = details['reason'];
  return typeof reason === 'string' && reason !== message ? `The cluster cannot be reached: ${reason}.` : message;
}

/** Returns the id of a request that failed in the platform, for finding it in the log; null for refusals. */
export function faultRequestId(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.status < 500 || NAMED.has(error.code)) return null;
  return error.requestId;
}
