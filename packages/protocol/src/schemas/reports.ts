import { Type, type Static } from 'typebox';
import { identifierSchema, sequenceSchema, textSchema, timestampSchema } from './parts.ts';

const count = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });

/** Far above any percentage; larger values are invalid and would spoil averages. */
const usage = Type.Number({ minimum: 0, maximum: 1_000_000 });

/** Contract. Fractions 0..1 of the nodes' allocatable resources; percentages from a peer are accepted unchanged. */
export const heartbeatSchema = Type.Object({
  status: textSchema({ minLength: 1, maxLength: 64 }),
  metrics: Type.Object({
    cpu_usage: usage,
    memory_usage: usage,
    active_pods: count,
  }),
});
/** Payload of `heartbeat`: the agent's status and the cluster's load. */
export type Heartbeat = Static<typeof heartbeatSchema>;

/** A feature that the agent omits, such as node events, and the reason. */
export const limitationSchema = Type.Object({
  feature: Type.String({ minLength: 1, maxLength: 256 }),
  reason: Type.String({ maxLength: 1024 }),
});
/** A feature that the agent omits, with the reason for display. */
export type Limitation = Static<typeof limitationSchema>;

/** Contract. `kubernetes_version` and `limitations` are additive; absent limitations = the agent reported none. */
export const clusterStatusSchema = Type.Object({
  nodes: count,
  pods: count,
  services: count,
  health: textSchema({ minLength: 1, maxLength: 64 }),
  kubernetes_version: Type.Optional(textSchema({ maxLength: 128 })),
  limitations: Type.Optional(Type.Array(limitationSchema, { maxItems: 64 })),
});
/** Payload of `cluster_status`: the number of nodes, pods and services, and the cluster's health. */
export type ClusterStatus = Static<typeof clusterStatusSchema>;

/**
 * Contract: `event_type`, `namespace` (empty for cluster-scoped objects), `resource` (`kind/name`), `details`.
 * Additive: `seq` is the position in the agent's outbox, acknowledged by `event_ack`; `occurred_at` is the cluster's
 * time.
 */
export const eventSchema = Type.Object({
  event_type: textSchema({ minLength: 1, maxLength: 128 }),
  namespace: textSchema({ maxLength: 253 }),
  resource: textSchema({ maxLength: 512 }),
  details: Type.Record(Type.String(), Type.Unknown()),
  seq: Type.Optional(sequenceSchema),
  occurred_at: Type.Optional(timestampSchema),
});
/** Payload of `event`: something that happened in the cluster or to the agent. */
export type EventReport = Static<typeof eventSchema>;

/** Event types that our agent sends. A platform must accept others. */
export const EVENT_TYPES = [
  'pod_created',
  'pod_ready',
  'pod_failed',
  'pod_crash_loop',
  'pod_oom_killed',
  'pod_evicted',
  'pod_deleted',
  'image_pull_failed',
  'deployment_available',
  'deployment_failed',
  'scaled',
  'node_added',
  'node_ready',
  'node_not_ready',
  'node_removed',
  'warning_event',
  'drift_detected',
  'drift_corrected',
  'autoscale_applied',
  'autoscale_skipped',
  'agent_started',
  'agent_stopping',
  'events_dropped',
] as const;
/** An event type that our agent sends. */
export type EventType = (typeof EVENT_TYPES)[number];

/** From the platform: every event up to this `seq` is stored; the agent drops them. */
export const eventAckSchema = Type.Object({ instance_id: identifierSchema, seq: sequenceSchema });
/** Payload of `event_ack`. `seq` covers all earlier events too. */
export type EventAck = Static<typeof eventAckSchema>;
