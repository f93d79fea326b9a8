import { describe, expect, it } from 'vitest';
import type { Part } from './part.ts';
import { selectParts } from './select.ts';

const part = (name: string, group: Part['group'], files?: readonly string[]): Part => ({
  name,
  group,
  description: '',
  timeoutMs: 1,
  run: async () => ({ results: [], output: '' }),
  ...(files === undefined ? {} : { files: () => files }),
});
const parts = [
  part('lint', 'default'),
  part('unit', 'default', ['modules/accounts/src/domain/users.test.ts', 'packages/http/src/app.test.ts']),
  part('postgres', 'all', ['modules/accounts/src/domain/users.test.ts']),
  part('kubernetes', 'all', ['apps/agent/src/deploy.kubernetes.test.ts']),
  part('ceph', 'all', []),
];
const shown = (patterns: string[], all = false) =>
  selectParts(parts, patterns, all).parts.map((each) => [each.part.name, each.filter]);

describe('selectParts', () => {
  it('selects the default parts without patterns, and the others with --all', () => {
    expect(shown([]).map(([name]) => name)).toEqual(['lint', 'unit']);
    expect(shown([], true).map(([name]) => name)).toEqual(['lint', 'unit', 'postgres', 'kubernetes']);
  });

  it('omits a part without files', () => {
    expect(shown(['ceph'])).toEqual([['unit', { testName: 'ceph' }]]);
  });

  it('prefers the name of a part, even one that needs --all', () => {
    expect(shown(['kubernetes'])).toEqual([['kubernetes', {}]]);
    expect(shown(['lint', 'postgres']).map(([name]) => name)).toEqual(['lint', 'postgres']);
  });

  it('matches the paths of test files, as completed by a shell', () => {
    expect(shown(['./modules/accounts/'])).toEqual([
      ['unit', { files: ['modules/accounts/src/domain/users.test.ts'] }],
    ]);
    expect(shown(['deploy'])).toEqual([['kubernetes', { files: ['apps/agent/src/deploy.kubernetes.test.ts'] }]]);
  });

  it('matches anything else against test names', () => {
    expect(shown(['refuses a wrong token'])).toEqual([['unit', { testName: 'refuses a wrong token' }]]);
  });
});
