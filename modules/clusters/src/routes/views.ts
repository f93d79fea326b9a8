import { nullable } from '@svc/http';
import { Type, type Static } from 'typebox';
import { clusterStatusAt, isConnectedAt, type Cluster } from '../domain/cluster.ts';
import { warningsOf } from '../domain/cluster-warnings.ts';
import type { Command, Deployment } from '../domain/command.ts';
import type { ClusterEvent, HeartbeatPoint } from '../domain/telemetry.ts';

const text = nullable(Type.String());
const integer = nullable(Type.Integer());
const openObject = Type.Object({}, { additionalProperties: true });

export const clusterSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('online'), Type.Literal('offline')], {
    description: 'pending: no agent has connected yet; offline: three heartbeats missed',
  }),
  connected: Type.Boolean(),
  created_at: Type.String(),
  connected_at: text,
  disconnected_at: text,
  last_seen_at: text,
  agent_version: text,
  kubernetes_version: text,
  protocol: Type.Union([Type.Literal('svc'), Type.Literal('contract'), Type.Null()]),
  capabilities: Type.Array(Type.String()),
  health: text,
  nodes: integer,
  pods: integer,
  services: integer,
  status_at: text,
  heartbeat: nullable(
    Type.Object({
      status: Type.String(),
      cpu_usage: Type.Number({ description: "Fraction of the nodes' allocatable resources, 0 to 1" }),
      memory_usage: Type.Number(),
      active_pods: Type.Integer(),
    }),
  ),
  clock_skew_seconds: nullable(
    Type.Integer({ description: "Seconds by which the agent's clock is ahead of the platform's" }),
  ),
  warnings: Type.Array(
    Type.Object({
      code: Type.Union([Type.Literal('CLOCK_SKEW'), Type.Literal('LIMITED'), Type.Literal('TWO_AGENTS')], {
        description:
          'CLOCK_SKEW: the clocks differ by a minute or more; LIMITED: the agent lacks a permission; TWO_AGENTS: ' +
          'two agents use the same token and replace each other',
      }),
      message: Type.String(),
    }),
  ),
});

export function toClusterView(cluster: Cluster, now: Date, offlineAfterMs: number): Static<typeof clusterSchema> {
  const { heartbeat, reportedStatus } = cluster;
  return {
    id: cluster.id,
    name: cluster.name,
    status: clusterStatusAt(cluster, now, offlineAfterMs),
    connected: isConnectedAt(cluster, now),
    created_at: cluster.createdAt,
    connected_at: cluster.connectedAt,
    disconnected_at: cluster.disconnectedAt,
    last_seen_at: cluster.lastSeenAt,
    agent_version: cluster.agentVersion,
    kubernetes_version: cluster.kubernetesVersion,
    protocol: cluster.protocol,
    capabilities: cluster.capabilities,
    health: reportedStatus?.health ?? null,
    nodes: reportedStatus?.nodes ?? null,
    pods: reportedStatus?.pods ?? null,
    services: reportedStatus?.services ?? null,
    status_at: reportedStatus?.at ?? null,
    heartbeat:
      heartbeat === null
        ? null
        : {
            status: heartbeat.status,
            cpu_usage: heartbeat.cpuUsage,
            memory_usage: heartbeat.memoryUsage,
            active_pods: heartbeat.activePods,
          },
    clock_skew_seconds: cluster.clockSkewSeconds,
    warnings: warningsOf(cluster, now),
  };
}

const commandStateSchema = Type.String({
  description:
    'queued, dispatched or running; then one of the final states succeeded, failed, timed_out, cancelled, ' +
    'superseded or lost',
});
const errorSchema = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Optional(openObject),
});

const lifecycleFields = {
  status: commandStateSchema,
  cluster: Type.String({ description: 'Name of the cluster' }),
  cluster_id: Type.String(),
  created_at: Type.String(),
  created_by: Type.String(),
  sent_at: text,
  acknowledged_at: text,
  cancel_requested_at: text,
  finished_at: text,
  result: nullable(openObject),
  error: nullable(errorSchema),
};

export const commandSchema = Type.Object({ id: Type.String(), command: Type.String(), ...lifecycleFields });

export const deploymentSchema = Type.Object({
  id: Type.String(),
  command_id: Type.String(),
  project_id: Type.String(),
  namespace: Type.String(),
  manifest_sha256: Type.String(),
  dry_run: Type.Boolean(),
  ...lifecycleFields,
});

export function toCommandView(command: Command, cluster: Cluster): Static<typeof commandSchema> {
  return { id: command.id, command: command.kind, ...toLifecycleView(command, cluster) };
}

export function toDeploymentView(deployment: Deployment, cluster: Cluster): Static<typeof deploymentSchema> {
  return {
    id: deployment.id,
    command_id: deployment.command.id,
    project_id: deployment.projectId,
    namespace: deployment.namespace,
    manifest_sha256: deployment.manifestSha256,
    dry_run: deployment.dryRun,
    ...toLifecycleView(deployment.command, cluster),
  };
}

function toLifecycleView(command: Command, cluster: Cluster) {
  return {
    status: command.state,
    cluster: cluster.name,
    cluster_id: cluster.id,
    created_at: command.createdAt,
    created_by: command.createdBy.name,
    sent_at: command.sentAt,
    acknowledged_at: command.acknowledgedAt,
    cancel_requested_at: command.cancelRequestedAt,
    finished_at: command.finishedAt,
    result: command.result,
    error: command.error,
  };
}

export const eventSchema = Type.Object({
  sequence: Type.Integer(),
  event_type: Type.String(),
  namespace: Type.String(),
  resource: Type.String(),
  details: openObject,
  occurred_at: Type.String(),
  received_at: Type.String(),
});

export function toEventView(event: ClusterEvent): Static<typeof eventSchema> {
  return {
    sequence: event.sequence,
    event_type: event.eventType,
    namespace: event.namespace,
    resource: event.resource,
    details: event.details,
    occurred_at: event.occurredAt,
    received_at: event.receivedAt,
  };
}

export const heartbeatPointSchema = Type.Object({
  at: Type.String(),
  status: text,
  cpu_usage: Type.Number(),
  memory_usage: Type.Number(),
  active_pods: Type.Number(),
  samples: Type.Integer({ description: 'Heartbeats in this point; more than 1 means a ten-minute average' }),
});

export function toHeartbeatView(point: HeartbeatPoint): Static<typeof heartbeatPointSchema> {
  return {
    at: point.at,
    status: point.status,
    cpu_usage: point.cpuUsage,
    memory_usage: point.memoryUsage,
    active_pods: point.activePods,
    samples: point.samples,
  };
}
