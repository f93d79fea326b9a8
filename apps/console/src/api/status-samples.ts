import type { PlatformStatus } from '@svc/sdk';
import { queryOptions, skipToken } from '@tanstack/react-query';

export interface StatusSample {
  connectedClusters: number;
  storedBytes: number;
  runningSandboxes: number;
}

/** Five minutes at one sample every five seconds. */
export const SAMPLE_CAPACITY = 60;

const NONE: readonly StatusSample[] = [];

/** Holds what the status query left behind, oldest first; never asks the platform itself. */
export function samplesQuery(workspaceUuid: string) {
  return queryOptions<readonly StatusSample[]>({
    queryKey: ['status-samples', workspaceUuid],
    queryFn: skipToken,
    staleTime: Infinity,
  });
}

export function appendSample(samples: readonly StatusSample[] = NONE, { services }: PlatformStatus): StatusSample[] {
  const sample: StatusSample = {
    connectedClusters: services.clusters.connected,
    storedBytes: services.object_store.bytes,
    runningSandboxes: services.sandboxes.running,
  };
  return [...samples, sample].slice(-SAMPLE_CAPACITY);
}
