import { describe, expect, it } from 'vitest';
import { formatDetails, eventLabel } from './event-labels.ts';

describe('sandbox event labels', () => {
  it('name each type, and keep the name of an unknown one', () => {
    expect(eventLabel({ type: 'oom_killed' })).toEqual({ label: 'Out of memory', tone: 'danger' });
    expect(eventLabel({ type: 'moved_house' })).toEqual({ label: 'moved house', tone: 'neutral' });
  });

  it('include the cause if there is one', () => {
    expect(formatDetails({ details: { code: 'DISK_FULL', message: 'The disk is full' } })).toBe('The disk is full');
    expect(formatDetails({ details: { reason: 'IDLE_TIMEOUT' } })).toBe('Stopped after being idle');
    const snapshot = { snapshot_id: 'snp_1', name: 'before', size_bytes: 1536 };
    expect(formatDetails({ details: snapshot })).toBe('name before, size 1.5 KiB, snapshot id snp_1');
    expect(formatDetails({ details: { session: 's1', attached: 2, other: null } })).toBe('session s1, attached 2');
  });
});
