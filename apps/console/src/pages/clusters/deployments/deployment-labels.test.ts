import { describe, expect, it } from 'vitest';
import { phaseLabel, shareOf, formatSummary } from './deployment-labels.ts';
import { parseDeploymentsSearch } from './deployments-search.ts';

describe('deployment labels', () => {
  it('summarize what was done, or would be', () => {
    const summary = { created: 2, configured: 0, unchanged: 1, pruned: 0, skipped: 0, failed: 0 };
    expect(formatSummary(summary, false)).toBe('2 created, 1 unchanged');
    expect(formatSummary(summary, true)).toBe('Plan: 2 created, 1 unchanged');
    expect(formatSummary({ ...summary, created: 0, unchanged: 0 }, false)).toBe('No changes');
  });

  it('give the progress if known', () => {
    expect([shareOf({ applied: 1, total: 4 }), shareOf({ ready: 2, total: 2 }), shareOf({})]).toEqual([0.25, 1, null]);
    expect([phaseLabel('waiting'), phaseLabel('moving_house')]).toEqual(['Waiting until ready', 'moving house']);
  });

  it('keep a project in the URL, even one that looks like a number', () => {
    expect([parseDeploymentsSearch({ project: 7 }), parseDeploymentsSearch({ project: '' })]).toEqual([
      { project: '7' },
      {},
    ]);
  });
});
