import { describe, expect, it } from 'vitest';
import { detailWords, eventWords } from './event-words.ts';
import { parseEventsSearch } from './events-search.ts';

describe('events of a cluster in words', () => {
  it('have a word for each kind, and their own name for one that is new', () => {
    expect(eventWords('pod_oom_killed')).toEqual({ words: 'Out of memory', tone: 'danger' });
    expect(eventWords('moved_house')).toEqual({ words: 'moved house', tone: 'neutral' });
  });

  it('say the cause where there is one', () => {
    expect(detailWords({ details: { reason: 'BackOff', message: 'restarting' } })).toBe('BackOff: restarting');
    expect(detailWords({ details: { from: 1, to: 3, extra: { a: 1 } } })).toBe('from 1, to 3');
  });

  it('have filters in the URL that can be right', () => {
    expect(parseEventsSearch({ type: 'scaled', namespace: 7 })).toEqual({ type: 'scaled', namespace: '7' });
    expect(parseEventsSearch({ type: 'A B', namespace: '' })).toEqual({});
  });
});
