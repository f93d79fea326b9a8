import { describe, expect, it } from 'vitest';
import { formatDetails, eventLabel } from './event-labels.ts';
import { parseEventsSearch } from './events-search.ts';

describe('cluster event labels', () => {
  it('name each type, and keep the name of an unknown one', () => {
    expect(eventLabel('pod_oom_killed')).toEqual({ label: 'Out of memory', tone: 'danger' });
    expect(eventLabel('moved_house')).toEqual({ label: 'moved house', tone: 'neutral' });
  });

  it('include the cause if there is one', () => {
    expect(formatDetails({ details: { reason: 'BackOff', message: 'restarting' } })).toBe('BackOff: restarting');
    expect(formatDetails({ details: { from: 1, to: 3, extra: { a: 1 } } })).toBe('from 1, to 3');
  });

  it('accept only valid filters from the URL', () => {
    expect(parseEventsSearch({ type: 'scaled', namespace: 7 })).toEqual({ type: 'scaled', namespace: '7' });
    expect(parseEventsSearch({ type: 'A B', namespace: '' })).toEqual({});
  });
});
