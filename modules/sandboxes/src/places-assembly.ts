import { availableParallelism } from 'node:os';
import { FairSlots } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import { sandboxErrors } from './errors.ts';

/** `max_running` bounds what waits before. */
const MAX_WAITING = 65_536;

/**
 * Places for starts and removals, which keep the processors of the machine busy: one more than there are processors, since
 * they also wait for the kernel. No workspace holds the last place, so that what one of them starts slowly keeps no other
 * from starting.
 */
export function createPlaces(metrics: Metrics): FairSlots {
  const waited = metrics.histogram(
    'svc_sandbox_place_wait_seconds',
    'Time that a start or removal waited for its turn',
  );
  const capacity = Math.max(3, availableParallelism() + 1);
  const places = new FairSlots({
    capacity,
    capacityPerKey: capacity - 1,
    maxWaiting: MAX_WAITING,
    refuse: () => sandboxErrors.NO_CAPACITY({ details: { reason: 'too many sandboxes wait for their start' } }),
    onGranted: (waitedMs) => waited.observe(waitedMs / 1_000),
  });
  const waiting = metrics.gauge('svc_sandbox_places_waiting', 'Starts and removals that wait for their turn');
  Object.assign(waiting, { collect: () => waiting.set(places.waiting) });
  return places;
}
