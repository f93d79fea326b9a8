import { defineErrors } from '@svc/errors';
import { QUOTA_EXCEEDED_MESSAGE } from '@svc/quotas';

/**
 * Errors of the cluster routes. Every response has the contract's body; `details` names the `field` and the `reason`.
 */
export const clusterErrors = defineErrors({
  INVALID_REQUEST: [400, 'Invalid request: {reason}'],
  UNAUTHORIZED: [401, 'Missing or invalid token'],
  FORBIDDEN: [403, 'Insufficient permissions: {reason}'],
  EXPIRING_CREDENTIAL: [
    403,
    'A credential with an expiry cannot create an agent token, which has none; sign in, or use a credential without one',
  ],
  CLUSTER_NOT_FOUND: [404, 'No cluster {cluster} in this workspace'],
  DEPLOYMENT_NOT_FOUND: [404, 'No deployment {id} in this cluster'],
  COMMAND_NOT_FOUND: [404, 'No command {id} in this cluster'],
  CLUSTER_NAME_TAKEN: [409, 'The workspace already has a cluster named {name}'],
  IDEMPOTENCY_CONFLICT: [409, 'The idempotency key was used with another request'],
  COMMAND_NOT_RUNNING: [409, 'The command {id} takes no input: {reason}'],
  MANIFEST_TOO_LARGE: [413, 'The manifest is too large: {reason}'],
  RATE_LIMITED: [429, 'Rate limit exceeded'],
  TOO_MANY_CLUSTERS: [429, QUOTA_EXCEEDED_MESSAGE],
  QUOTA_EXCEEDED: [429, QUOTA_EXCEEDED_MESSAGE],
  TOO_MANY_COMMANDS: [429, 'The cluster has reached its limit of {limit} unfinished commands'],
  TOO_MANY_STREAMS: [429, 'The cluster has reached its limit of {limit} open event streams'],
  AGENT_MOVED: [503, 'The agent has connected to another replica; repeat the request to continue'],
  AGENT_OFFLINE: [503, 'The agent of cluster {cluster} is not connected'],
  FORWARD_NOT_FOUND: [404, 'The agent of cluster {cluster} does not offer the service {service}'],
  TUNNEL_BACKEND_UNREACHABLE: [502, '{service} in cluster {cluster} cannot be reached: {reason}'],
  TUNNEL_BUSY: [503, 'The tunnel of cluster {cluster} has reached its connection limit'],
  REPOSITORY_NOT_FOUND: [404, 'Image {name} not found; this registry serves only {own}'],
  IMAGE_NOT_FOUND: [404, 'The platform has no agent image {reference}: {reason}'],
  BLOB_NOT_FOUND: [404, 'The agent image has no blob {digest}'],
  TUNNEL_TIMEOUT: [504, '{service} in cluster {cluster} timed out: {reason}'],
  KUBERNETES_NOT_FOUND: [404, 'Kubernetes of cluster {cluster}: {reason}'],
  CURSOR_EXPIRED: [410, 'The list has changed since its first page; start again without a cursor'],
  TOO_MANY_SHELLS: [429, 'The cluster has reached its limit of {limit} open shells'],
  KUBERNETES_ERROR: [502, 'Kubernetes of cluster {cluster} refused: {reason}'],
  KUBERNETES_UNAVAILABLE: [503, 'Kubernetes of cluster {cluster} is busy or unavailable: {reason}'],
  UNSUPPORTED: [501, 'The agent of cluster {cluster} does not support this: {reason}'],
  SHUTTING_DOWN: [503, 'The platform is shutting down'],
});
