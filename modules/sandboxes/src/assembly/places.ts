import { availableParallelism } from 'node:os';
import { FairSlots } from '@svc/runtime';
import type { QuotaLimits, WorkspaceTraffic } from '@svc/quotas';
import type { Metrics } from '@svc/telemetry';
import type { SandboxDriver } from '../domain/driver.ts';
import { StartPlaces } from '../domain/start-places.ts';
import { sandboxErrors } from '../errors.ts';

/** `max_running` is reached long before this. */
const MAX_WAITING = 65_536;

/** A workspace can hold all slots but these two; all workspaces of one owner together can hold all but one. */
const KEPT_FOR_OTHERS = 2;
/** More than one, since a start also waits for the disk and the database. */
const STARTS_PER_PROCESSOR = 4;
/** Rest after each millisecond of a start next to other workspaces; measured in bench/fairness. */
const SHARED_REST = 5;
/** Of some three starts: a workspace that starts a sandbox now and then does not wait for its own rest. */
const POSTPONED_REST_MS = 250;

/** Concurrent starts, and as many removals, in each connected cluster, which does the work and belongs to one workspace. */
const IN_CLUSTER = 16;

/**
 * Slots for starts and removals. When sandboxes run on this machine, this work keeps its processors busy, so a
 * workspace gets four slots for each. No workspace or owner can hold the last slot, so slow starts of
 * one tenant never block the others. While several workspaces are active, each gets at most half of the processors and
 * rests between starts: starts that share a processor are slow, and so is every request next to them.
 */
export function createPlaces(
  { parallelStarts }: Pick<SandboxDriver, 'parallelStarts'>,
  { shareOf }: Pick<QuotaLimits, 'shareOf'>,
  traffic: Pick<WorkspaceTraffic, 'isContended'>,
  metrics: Metrics,
): StartPlaces {
  const processors = Math.max(2, availableParallelism());
  const alone = parallelStarts ?? processors * STARTS_PER_PROCESSOR;
  const waited = metrics.histogram('svc_sandbox_place_wait_seconds', 'Queue time of starts and removals');
  const shared = {
    maxWaiting: MAX_WAITING,
    refuse: () => sandboxErrors.NO_CAPACITY({ details: { reason: 'too many sandboxes are waiting to start' } }),
    onGranted: (waitedMs: number) => waited.observe(waitedMs / 1_000),
  };
  const here = new FairSlots({
    ...shared,
    capacity: alone + KEPT_FOR_OTHERS,
    capacityPerKey: alone,
    sharedCapacityPerKey: Math.ceil((parallelStarts ?? processors) / 2),
    isContended: () => traffic.isContended(),
    sharedRest: SHARED_REST,
    postponedRestMs: POSTPONED_REST_MS,
    capacityPerGroup: alone + KEPT_FOR_OTHERS - 1,
    groupOf: shareOf,
  });
  const places = new StartPlaces({ here, inCluster: () => new FairSlots({ ...shared, capacity: IN_CLUSTER }) });
  metrics.observableGauge('svc_sandbox_places_waiting', 'Queued starts and removals', () => places.waiting);
  return places;
}
