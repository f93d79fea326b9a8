import type { HeartbeatReading, ReportedStatus } from './cluster.ts';
import type { Page } from '@svc/runtime';
import type { PageRequest } from './paging.ts';

export interface ClusterEvent {
  sequence: number;
  eventType: string;
  namespace: string;
  resource: string;
  details: Record<string, unknown>;
  occurredAt: string;
  receivedAt: string;
}

/** An agent's report to be written. The reports of a batch are committed together, in order. */
export type Report =
  | { kind: 'heartbeat'; clusterId: string; at: string; reading: HeartbeatReading; clockSkewSeconds: number }
  | { kind: 'status'; clusterId: string; reportedStatus: ReportedStatus; kubernetesVersion: string | null }
  | {
      kind: 'event';
      clusterId: string;
      messageId: string;
      /** Position in the agent's outbox; null for agents without one. */
      outbox: { id: string; sequence: number } | null;
      event: Omit<ClusterEvent, 'sequence'>;
    };

export interface HeartbeatPoint {
  at: string;
  status: string | null;
  cpuUsage: number;
  memoryUsage: number;
  activePods: number;
  samples: number;
}

export interface EventFilter {
  eventType: string | null;
  namespace: string | null;
}

export interface TelemetryStore {
  /** Writes all reports in one transaction. Drops reports of deleted clusters. */
  write(reports: readonly Report[]): Promise<void>;
  events(clusterId: string, filter: EventFilter, page: PageRequest): Promise<Page<ClusterEvent>>;
  /** Oldest first, for streams. */
  eventsAfter(clusterId: string, filter: EventFilter, sequence: number, limit: number): Promise<ClusterEvent[]>;
  newestEventSequence(clusterId: string): Promise<number>;
  /** Oldest first: single heartbeats as far back as they are kept, ten-minute averages before that. */
  heartbeats(clusterId: string, since: string, limit: number): Promise<HeartbeatPoint[]>;
  prune(limits: TelemetryRetention): Promise<void>;
}

export interface TelemetryRetention {
  /** Single heartbeats before this time are folded into averages. */
  heartbeatsBefore: string;
  averagesBefore: string;
  eventsBefore: string;
  eventsPerCluster: number;
}
