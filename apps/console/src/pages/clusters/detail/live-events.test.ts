import type { ClusterEvent } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { isTooLong, withEvent, type EventPages } from './live-events.ts';

const event = (sequence: number, type = 'pod_ready', namespace = 'shop'): ClusterEvent => ({
  sequence,
  event_type: type,
  namespace,
  resource: 'pod/web',
  details: {},
  occurred_at: '2026-11-22T10:00:00.000Z',
  received_at: '2026-11-22T10:00:00.000Z',
});
const pages = (...items: ClusterEvent[]): EventPages => ({
  pages: [{ items, nextCursor: 'older' }],
  pageParams: [undefined],
});
const sequences = (data: EventPages | undefined): number[] =>
  (data?.pages ?? []).flatMap(({ items }) => items.map(({ sequence }) => sequence));

describe('live events', () => {
  it('are prepended, once each', () => {
    const shown = withEvent(withEvent(pages(event(1)), event(2), {}), event(2), {});
    expect(sequences(shown)).toEqual([2, 1]);
  });

  it('are omitted if they do not match the filter', () => {
    expect(sequences(withEvent(pages(event(1)), event(2, 'scaled'), { eventType: 'pod_ready' }))).toEqual([1]);
    expect(sequences(withEvent(pages(event(1)), event(2, 'pod_ready', 'blog'), { namespace: 'shop' }))).toEqual([1]);
  });

  it('wait for the first page, and trigger a reload if there are too many', () => {
    expect(withEvent(undefined, event(1), {})).toBeUndefined();
    expect(isTooLong(pages(event(1)))).toBe(false);
    expect(isTooLong(pages(...Array.from({ length: 501 }, (_, index) => event(index))))).toBe(true);
  });
});
