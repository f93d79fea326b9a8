import { defineErrors } from '@svc/errors';

/** What the routes of clusters refuse with. Every answer has the contract's body; `details` says `field` and `reason`. */
export const clusterErrors = defineErrors({
  INVALID_REQUEST: [400, 'Invalid request: {reason}'],
  UNAUTHORIZED: [401, 'Missing or invalid token'],
  FORBIDDEN: [403, 'Insufficient permissions: {reason}'],
  CLUSTER_NOT_FOUND: [404, 'No cluster {cluster} in this workspace'],
  DEPLOYMENT_NOT_FOUND: [404, 'No deployment {id} in this cluster'],
  COMMAND_NOT_FOUND: [404, 'No command {id} in this cluster'],
  CLUSTER_NAME_TAKEN: [409, 'The workspace has a cluster {name} already'],
  IDEMPOTENCY_CONFLICT: [409, 'The idempotency key was used with another request'],
  COMMAND_NOT_RUNNING: [409, 'The command {id} takes no input: {reason}'],
  MANIFEST_TOO_LARGE: [413, 'The manifest is too large: {reason}'],
  RATE_LIMITED: [429, 'Rate limit exceeded'],
  TOO_MANY_CLUSTERS: [429, 'The workspace has {limit} clusters, which is the limit'],
  TOO_MANY_COMMANDS: [429, 'The cluster has {limit} unfinished commands, which is the limit'],
  TOO_MANY_STREAMS: [429, 'The cluster has {limit} open event streams, which is the limit'],
  AGENT_OFFLINE: [503, 'The agent of cluster {cluster} is not connected'],
  FORWARD_NOT_FOUND: [404, 'The agent of cluster {cluster} offers no {service}'],
  TUNNEL_BACKEND_UNREACHABLE: [502, '{service} in cluster {cluster} cannot be reached: {reason}'],
  TUNNEL_BUSY: [503, 'The tunnel of cluster {cluster} carries as many connections as it may'],
  TUNNEL_TIMEOUT: [504, '{service} in cluster {cluster} did not answer in time: {reason}'],
  UNSUPPORTED: [501, 'The agent of cluster {cluster} cannot do this: {reason}'],
  SHUTTING_DOWN: [503, 'The platform is shutting down'],
});
