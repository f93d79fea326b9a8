import { describe, expect, it } from 'vitest';
import type { TestResult } from './part.ts';
import { summarize, type FinishedPart } from './summary.ts';

const result = (name: string, status: TestResult['status'], message = ''): TestResult => {
  return { file: 'a.test.ts', name, status, message };
};
const finished = (name: string, results: TestResult[], notRun: string | null = null): FinishedPart => {
  return { name, results, durationMs: 1, notRun };
};

describe('summarize', () => {
  it('ends with the counts and names each skip with its reason', () => {
    const summary = summarize([finished('unit', [result('x', 'passed'), result('y', 'skipped', 'needs root')])], false);
    expect(summary.lines).toEqual([
      '',
      'skipped:',
      '  needs root',
      '    a.test.ts > y',
      '',
      '1 passed, 0 failed, 1 skipped',
    ]);
    expect(summary.exitCode).toBe(0);
  });

  it('names a flaky test and its first failure', () => {
    const unsteady = { ...result('x', 'passed'), failedFirstOf: 'Error: too slow\n    at x' };
    const summary = summarize([finished('unit', [unsteady])], true);
    expect(summary).toMatchObject({ exitCode: 0, passed: 1, failed: 0 });
    expect(summary.lines).toEqual([
      '',
      'unsteady, failed once and passed when run again alone:',
      '  a.test.ts > x',
      '    Error: too slow',
      '',
      '1 passed, 0 failed',
    ]);
  });

  it('fails when nothing ran', () => {
    expect(summarize([finished('unit', [])], false)).toMatchObject({ exitCode: 1, passed: 0 });
  });

  it('names failures', () => {
    const summary = summarize([finished('unit', [result('x', 'passed'), result('y', 'failed', 'Error')])], false);
    expect(summary).toMatchObject({ exitCode: 1, failed: 1 });
    expect(summary.lines).toContain('  a.test.ts > y');
  });

  it('counts a skip as a failure in strict mode', () => {
    const parts = [finished('unit', [result('x', 'passed'), result('y', 'skipped', 'needs the command crun')])];
    expect(summarize(parts, true)).toMatchObject({ exitCode: 1, failed: 1, skipped: 0 });
    expect(summarize(parts, true).lines).toContain('skipped although this run may skip nothing:');
  });

  it('allows skips for requirements that cannot be installed, even in strict mode', () => {
    const parts = [finished('unit', [result('x', 'passed'), result('y', 'skipped', 'needs /dev/kvm')])];
    expect(summarize(parts, true)).toMatchObject({ exitCode: 0, failed: 0, skipped: 1 });
  });

  it('does not count a skip if the same test passed in another part', () => {
    const skip = result('y on PostgreSQL', 'skipped', 'SVC_TEST_POSTGRES_URL is not set');
    const unit = finished('unit', [result('x', 'passed'), skip]);
    const postgres = finished('postgres', [result('x', 'passed'), result('y on PostgreSQL', 'passed')]);
    expect(summarize([unit, postgres], true)).toMatchObject({ exitCode: 0, failed: 0, skipped: 0 });
  });

  it('allows a skip in strict mode only if the part that runs the test was not selected', () => {
    const skip = result('y on PostgreSQL', 'skipped', 'SVC_TEST_POSTGRES_URL is not set');
    const unit = finished('unit', [result('x', 'passed'), skip]);
    expect(summarize([unit], true)).toMatchObject({ failed: 0, skipped: 1 });
    expect(summarize([unit, finished('postgres', [])], true)).toMatchObject({ failed: 1, skipped: 0 });
  });

  it('names a part that did not run, which fails only in strict mode', () => {
    const parts = [finished('unit', [result('x', 'passed')]), finished('kubernetes', [], 'needs root')];
    expect(summarize(parts, false)).toMatchObject({ exitCode: 0, failed: 0 });
    expect(summarize(parts, false).lines).toContain('  kubernetes: needs root');
    expect(summarize(parts, true)).toMatchObject({ exitCode: 1, failed: 1 });
  });
});
