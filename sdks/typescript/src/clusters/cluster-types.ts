import type { ClusterOperations } from '../generated/api.ts';

/** API types under the SDK's names. All times are ISO 8601, UTC, with milliseconds. */

export type ClusterInfo = ClusterOperations['GET /{cluster}']['answer'];
/** A new cluster, with the token of its agent (shown only once) and the commands that install the agent. */
export type CreatedCluster = ClusterOperations['POST /']['answer'];
/** A new agent token, shown only once. */
export type RotatedToken = ClusterOperations['POST /{cluster}/token']['answer'];
/** Live state and heartbeat history of a cluster. */
export type ClusterStatus = ClusterOperations['GET /{cluster}/status']['answer'];
/** A manifest to deploy. */
export type NewDeployment = ClusterOperations['POST /{cluster}/deploy']['body'];
/** A deployment, its status and its result. */
export type Deployment = ClusterOperations['GET /{cluster}/deployments/{id}']['answer'];
/** A command sent to the cluster's agent, such as an exec. */
export type ClusterCommand = ClusterOperations['GET /{cluster}/commands/{id}']['answer'];
/** An event in the cluster. */
export type ClusterEvent = ClusterOperations['GET /{cluster}/events']['answer']['events'][number];
/** A node of the cluster. */
export type ClusterNode = ClusterOperations['GET /{cluster}/nodes']['answer']['nodes'][number];
/** A Deployment, StatefulSet, DaemonSet, CronJob or Job. */
export type Workload = ClusterOperations['GET /{cluster}/workloads']['answer']['workloads'][number];
/** The Kubernetes kind of a workload. */
export type WorkloadKind = Workload['kind'];
/** A pod of the cluster. */
export type Pod = ClusterOperations['GET /{cluster}/pods']['answer']['pods'][number];
/** The addresses of the cluster's API server and forwarded services. */
export type TunnelEndpoints = ClusterOperations['GET /{cluster}/tunnel-endpoints']['answer'];

/** The outcome for one object of a deployment. */
export interface ResourceResult {
  api_version: string;
  kind: string;
  namespace: string;
  name: string;
  action: 'created' | 'configured' | 'unchanged' | 'pruned' | 'skipped' | 'failed';
  health: 'ready' | 'progressing' | 'degraded' | 'failed' | 'unknown';
  message?: string;
  error?: { code: string; message: string };
  /** Changed fields; dry runs only. */
  diff?: { path: string; before?: string; after?: string }[];
}

/** `result` of a finished deployment, as sent by the agent. */
export interface DeploymentResult {
  dry_run: boolean;
  partially_applied: boolean;
  summary: Record<'created' | 'configured' | 'unchanged' | 'pruned' | 'skipped' | 'failed', number>;
  resources: ResourceResult[];
  warnings: string[];
}

/** Returns the result of a deployment or dry run; null if there is none. */
export function resultOf(deployment: Deployment): DeploymentResult | null {
  const { result } = deployment;
  // The platform validated the result against the agent protocol.
  return result !== null && Array.isArray(result['resources']) ? (result as unknown as DeploymentResult) : null;
}
