import { describe, expect, it } from 'vitest';
import { detailWords, eventWords } from './event-words.ts';

describe('events in words', () => {
  it('have a word for each kind, and their own name for one that is new', () => {
    expect(eventWords({ type: 'oom_killed' })).toEqual({ words: 'Out of memory', tone: 'danger' });
    expect(eventWords({ type: 'moved_house' })).toEqual({ words: 'moved house', tone: 'neutral' });
  });

  it('say the cause where there is one', () => {
    expect(detailWords({ details: { code: 'DISK_FULL', message: 'The disk is full' } })).toBe('The disk is full');
    expect(detailWords({ details: { reason: 'IDLE_TIMEOUT' } })).toBe('Stopped after being idle');
    const snapshot = { snapshot_id: 'snp_1', name: 'before', size_bytes: 1536 };
    expect(detailWords({ details: snapshot })).toBe('name before, size 1.5 KiB, snapshot id snp_1');
    expect(detailWords({ details: { session: 's1', attached: 2, other: null } })).toBe('session s1, attached 2');
  });
});
