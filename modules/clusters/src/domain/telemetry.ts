import type { HeartbeatReading, ReportedStatus } from './cluster.ts';
import type { Page, PageRequest } from './paging.ts';

export interface ClusterEvent {
  sequence: number;
  eventType: string;
  namespace: string;
  resource: string;
  details: Record<string, unknown>;
  occurredAt: string;
  receivedAt: string;
}

/** What an agent reported, to be written. Reports of one batch are committed together, in their order. */
export type Report =
  | { kind: 'heartbeat'; clusterId: string; at: string; reading: HeartbeatReading; clockSkewSeconds: number }
  | { kind: 'status'; clusterId: string; reportedStatus: ReportedStatus; kubernetesVersion: string | null }
  | {
      kind: 'event';
      clusterId: string;
      messageId: string;
      /** Its place in the agent's outbox; null for agents that have none. */
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
  /** One transaction for all. Reports of clusters that are gone are dropped. */
  write(reports: readonly Report[]): Promise<void>;
  events(clusterId: string, filter: EventFilter, page: PageRequest): Promise<Page<ClusterEvent>>;
  /** Oldest first, for streams. */
  eventsAfter(clusterId: string, filter: EventFilter, sequence: number, limit: number): Promise<ClusterEvent[]>;
  newestEventSequence(clusterId: string): Promise<number>;
  /** Oldest first: single heartbeats where they are still kept, averages of ten minutes before that. */
  heartbeats(clusterId: string, since: string, limit: number): Promise<HeartbeatPoint[]>;
  prune(limits: TelemetryRetention): Promise<void>;
}

export interface TelemetryRetention {
  /** Single heartbeats before this are folded into averages. */
  heartbeatsBefore: string;
  averagesBefore: string;
  eventsBefore: string;
  eventsPerCluster: number;
}
