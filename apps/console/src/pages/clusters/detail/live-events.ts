import type { ClusterEvent, Page } from '@svc/sdk';
import type { InfiniteData } from '@tanstack/react-query';
import type { EventFilter } from '../../../api/clusters.ts';

export type EventPages = InfiniteData<Page<ClusterEvent>>;

/** Maximum events of the first page, including those that arrived since. */
const MOST_LIVE = 500;

/** Prepends a new event if it matches the filter and is not there yet. */
export function withEvent(
  data: EventPages | undefined,
  event: ClusterEvent,
  { eventType, namespace }: EventFilter,
): EventPages | undefined {
  const [first, ...rest] = data?.pages ?? [];
  if (data === undefined || first === undefined) return data;
  if (eventType !== undefined && event.event_type !== eventType) return data;
  if (namespace !== undefined && event.namespace !== namespace) return data;
  if (first.items.some(({ sequence }) => sequence === event.sequence)) return data;
  return { ...data, pages: [{ ...first, items: [event, ...first.items] }, ...rest] };
}

/** Whether so many events arrived that the pages must be reloaded: those dropped at the end would leave a gap. */
export function isTooLong(data: EventPages | undefined): boolean {
  return (data?.pages[0]?.items.length ?? 0) > MOST_LIVE;
}
