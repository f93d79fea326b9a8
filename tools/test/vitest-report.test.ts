import { describe, expect, it } from 'vitest';
import { readVitestReport } from './vitest-report.ts';

const report = JSON.stringify({
  testResults: [
    {
      name: '/project/modules/a/src/a.test.ts',
      status: 'failed',
      message: '',
      assertionResults: [
        { ancestorTitles: ['a'], title: 'works', status: 'passed', failureMessages: [] },
        { ancestorTitles: ['a'], title: 'breaks', status: 'failed', failureMessages: ['Error: one', 'Error: two'] },
        { ancestorTitles: ['b [skipped: needs root]'], title: 'mounts', status: 'skipped' },
        { ancestorTitles: [], title: 'is silent', status: 'pending' },
      ],
    },
    { name: '/project/modules/a/src/b.test.ts', status: 'failed', message: 'SyntaxError', assertionResults: [] },
  ],
});

describe('readVitestReport', () => {
  it('returns every test with its file, status and message', () => {
    expect(readVitestReport(report, '/project').slice(0, 4)).toEqual([
      { file: 'modules/a/src/a.test.ts', name: 'a > works', status: 'passed', message: '' },
      { file: 'modules/a/src/a.test.ts', name: 'a > breaks', status: 'failed', message: 'Error: one\nError: two' },
      { file: 'modules/a/src/a.test.ts', name: 'b > mounts', status: 'skipped', message: 'needs root' },
      { file: 'modules/a/src/a.test.ts', name: 'is silent', status: 'skipped', message: 'no reason given' },
    ]);
  });

  it('counts a file that fails to load as failed, although it has no tests', () => {
    expect(readVitestReport(report, '/project')[4]).toEqual({
      file: 'modules/a/src/b.test.ts',
      name: 'the file itself',
      status: 'failed',
      message: 'SyntaxError',
    });
  });
});
