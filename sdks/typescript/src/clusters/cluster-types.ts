import type { ClusterOperations } from '../generated/api.ts';

/** Shapes of the API under the names that this SDK gives them. All times are ISO 8601, UTC, with milliseconds. */

export type ClusterInfo = ClusterOperations['GET /{cluster}']['answer'];
/** With the token of its agent, which is shown this once, and commands that install the agent. */
export type CreatedCluster = ClusterOperations['POST /']['answer'];
export type RotatedToken = ClusterOperations['POST /{cluster}/token']['answer'];
/** Live state and the history of heartbeats. */
export type ClusterStatus = ClusterOperations['GET /{cluster}/status']['answer'];
export type NewDeployment = ClusterOperations['POST /{cluster}/deploy']['body'];
export type Deployment = ClusterOperations['GET /{cluster}/deployments/{id}']['answer'];
export type ClusterCommand = ClusterOperations['GET /{cluster}/commands/{id}']['answer'];
export type ClusterEvent = ClusterOperations['GET /{cluster}/events']['answer']['events'][number];
export type ClusterNode = ClusterOperations['GET /{cluster}/nodes']['answer']['nodes'][number];
export type Workload = ClusterOperations['GET /{cluster}/workloads']['answer']['workloads'][number];
export type WorkloadKind = Workload['kind'];
export type Pod = ClusterOperations['GET /{cluster}/pods']['answer']['pods'][number];
export type TunnelEndpoints = ClusterOperations['GET /{cluster}/tunnel-endpoints']['answer'];

/** What became of one object of a deployment. */
export interface ResourceResult {
  api_version: string;
  kind: string;
  namespace: string;
  name: string;
  action: 'created' | 'configured' | 'unchanged' | 'pruned' | 'skipped' | 'failed';
  health: 'ready' | 'progressing' | 'degraded' | 'failed' | 'unknown';
  message?: string;
  error?: { code: string; message: string };
  /** Only in a dry run. */
  diff?: { path: string; before?: string; after?: string }[];
}

/** `result` of a finished deployment, as its agent sent it. */
export interface DeploymentResult {
  dry_run: boolean;
  partially_applied: boolean;
  summary: Record<'created' | 'configured' | 'unchanged' | 'pruned' | 'skipped' | 'failed', number>;
  resources: ResourceResult[];
  warnings: string[];
}

/** The result of a deployment that has one: of an agent that applied something, or looked what it would do. */
export function resultOf(deployment: Deployment): DeploymentResult | null {
  const { result } = deployment;
  // The shape is that of the agent's protocol, which the platform has checked.
  return result !== null && Array.isArray(result['resources']) ? (result as unknown as DeploymentResult) : null;
}
