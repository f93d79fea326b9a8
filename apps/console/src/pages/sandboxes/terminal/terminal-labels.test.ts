import { describe, expect, it } from 'vitest';
import { sessionLabel } from './terminal-labels.ts';

describe('the label of a session', () => {
  it('is its given name', () => {
    expect(sessionLabel({ session: 'keep', shell: '/bin/bash', pid: 42 })).toBe('keep');
    expect(sessionLabel({ session: 'server', shell: '/bin/bash', pid: 42 })).toBe('server');
  });

  it('is the shell and its process id if the platform generated the name', () => {
    expect(sessionLabel({ session: 'se1e15dcc07471ac636', shell: '/bin/bash', pid: 42 })).toBe('bash 42');
  });
});
