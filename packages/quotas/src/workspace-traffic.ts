import { FairTurns } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import type { Usage } from './breach.ts';
import { limitIn, type QuotaLimits } from './limits.ts';
import type { Quota, QuotaScope } from './quota.ts';
import { quotaHolders, QuotaRates } from './quota-rates.ts';
import { trafficQuotas } from './traffic-quotas.ts';

/** Why a workspace has to wait, and for how long. */
export interface TrafficRefusal {
  /** The exhausted quota; null if the process-wide queue is full. */
  quota: string | null;
  scope: QuotaScope | null;
  limit: number | null;
  retryAfterSeconds: number;
}

/** An admitted upload, with the function that stops counting it, or the reason for its refusal. */
export type UploadAdmission = { refusal: TrafficRefusal; leave: null } | { refusal: null; leave: () => void };

/** Port to the request limits of workspaces: all principals and keys of a workspace together, over REST and S3. */
export interface WorkspaceTraffic {
  /**
   * Counts a request against the rates of the workspace and its owner, then waits for the workspace's turn on the event
   * loop. `isPublic`: the request has no credential; such requests have their own rate and queue.
   */
  admit(workspaceUuid: string, isPublic?: boolean): Promise<TrafficRefusal | null>;
  /** Waits for the workspace's turn to read the next part of a large body. Undefined: proceed immediately. */
  turnOfBody(workspaceUuid: string): Promise<void> | undefined;
  /** Waits for the workspace's turn to send the next 256 KiB of a download. Undefined: proceed immediately. */
  turnOfDownload(workspaceUuid: string): Promise<void> | undefined;
  /** Whether several workspaces, or one and its public readers, sent requests within the last second. */
  isContended(): boolean;
  /** Counts an upload until `leave` is called. Further calls have no effect. */
  enterUpload(workspaceUuid: string): Promise<UploadAdmission>;
  /** Total use of the traffic quotas by these workspaces on this replica. Excludes rates, which are not amounts. */
  usage(workspaceUuids: readonly string[]): Usage;
}

/** Dependencies of the workspace limits. */
export interface WorkspaceTrafficOptions {
  limits: QuotaLimits;
  metrics: Metrics;
  nowMs: () => number;
}

/** Time per iteration of the event loop in which requests may start; measured in bench/fairness. */
const SLICE_MS = 1;
/** The same while several workspaces are active. */
const SHARED_SLICE_MS = 0.1;
/** Rest after each millisecond of a shared slice: a busy workspace slows down so that others find the process idle. */
const SHARED_REST = 3;
/** Event loop time to read and hash 1 MiB. */
const BODY_TURN_MS = 0.6;
/** Event loop time to decrypt and write 256 KiB. */
const DOWNLOAD_TURN_MS = 0.25;
const MAX_WAITING = 16_384;
const MAX_WAITING_PER_OWNER = 8_192;
const MAX_WAITING_PER_WORKSPACE = 4_096;
const PUBLIC = ' public';
const BUSY: TrafficRefusal = { quota: null, scope: null, limit: null, retryAfterSeconds: 1 };

/** Creates in-memory limits: each replica counts separately. */
export function createWorkspaceTraffic({ limits, metrics, nowMs }: WorkspaceTrafficOptions): WorkspaceTraffic {
  const waited = metrics.histogram('svc_request_turn_wait_seconds', 'Queue time of requests');
  const refusals = metrics.counter('svc_traffic_refusals_total', 'Requests refused by a workspace limit', ['reason']);
  const turns = new FairTurns({
    sliceMs: SLICE_MS,
    sharedSliceMs: SHARED_SLICE_MS,
    sharedRest: SHARED_REST,
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_PER_WORKSPACE,
    maxWaitingPerGroup: MAX_WAITING_PER_OWNER,
    groupOf: (key) => limits.shareOf(key.endsWith(PUBLIC) ? key.slice(0, -PUBLIC.length) : key),
    refuse: () => new TurnsTaken(),
    onGranted: (waitedMs) => waited.observe(waitedMs / 1_000),
  });
  const uploads = new Map<string, number>();
  let uploadsInFlight = 0;
  metrics.observableGauge('svc_request_turns_waiting', 'Requests waiting for their turn', () => turns.waiting);
  metrics.observableGauge('svc_uploads_in_flight', 'Uploads in progress', () => uploadsInFlight);
  const rates = new QuotaRates(nowMs);
  const refused = (refusal: TrafficRefusal): TrafficRefusal => {
    refusals.inc({ reason: refusal.quota ?? 'busy' });
    return refusal;
  };

  return {
    admit: async (workspaceUuid, isPublic = false) => {
      const suffix = isPublic ? PUBLIC : '';
      const refusal = rates.take(trafficQuotas.requests_per_second, await limits.readLimits(workspaceUuid), suffix);
      if (refusal !== null) return refused(refusal);
      try {
        await turns.take(workspaceUuid + suffix);
        return null;
      } catch (error) {
        if (error instanceof TurnsTaken) return refused(BUSY);
        throw error;
      }
    },
    // Uploads in flight are bounded, so one that finds the queue full proceeds rather than fails.
    turnOfBody: (workspaceUuid) => turns.take(workspaceUuid, BODY_TURN_MS)?.catch(() => undefined),
    turnOfDownload: (workspaceUuid) => turns.take(workspaceUuid, DOWNLOAD_TURN_MS)?.catch(() => undefined),
    isContended: () => turns.isContended,
    enterUpload: async (workspaceUuid) => {
      const held = await limits.readLimits(workspaceUuid);
      const holders = quotaHolders(held);
      for (const { scope, key } of holders) {
        const limit = limitIn(held, scope, trafficQuotas.uploads_in_flight);
        if (limit === null || (uploads.get(key) ?? 0) < limit) continue;
        return { refusal: refused(createRefusal(trafficQuotas.uploads_in_flight, scope, limit)), leave: null };
      }
      for (const { key } of holders) uploads.set(key, (uploads.get(key) ?? 0) + 1);
      uploadsInFlight += 1;
      let hasLeft = false;
      const leave = (): void => {
        if (hasLeft) return;
        hasLeft = true;
        uploadsInFlight -= 1;
        for (const { key } of holders) countDown(uploads, key);
      };
      return { refusal: null, leave };
    },
    usage: (workspaceUuids) => ({
      [trafficQuotas.uploads_in_flight.name]: workspaceUuids.reduce((sum, each) => sum + (uploads.get(each) ?? 0), 0),
    }),
  };
}

/** Admits everything; for tests and modules that run alone. */
export const unlimitedTraffic: WorkspaceTraffic = {
  admit: () => Promise.resolve(null),
  turnOfBody: () => undefined,
  turnOfDownload: () => undefined,
  isContended: () => false,
  enterUpload: () => Promise.resolve({ refusal: null, leave: () => undefined }),
  usage: () => ({}),
};

class TurnsTaken extends Error {}

function createRefusal(quota: Quota, scope: QuotaScope, limit: number): TrafficRefusal {
  return { quota: quota.name, scope, limit, retryAfterSeconds: 1 };
}

function countDown(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 0) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
