import type { ClusterEvent, Page } from '@svc/sdk';
import type { InfiniteData } from '@tanstack/react-query';
import type { EventFilter } from '../../../api/clusters.ts';

export type EventPages = InfiniteData<Page<ClusterEvent>>;

/** Of the first page, with what has come since it was loaded. */
const MOST_LIVE = 500;

/** With a new event in front, if it is one that is asked for and not there yet. */
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

/** So many came that the pages should be loaded anew: what fell out at their end would leave a gap before the next one. */
export function isTooLong(data: EventPages | undefined): boolean {
  return (data?.pages[0]?.items.length ?? 0) > MOST_LIVE;
}
