import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '@svc/testing';
import type { Part, PartContext, PartOutcome, TestResult } from './part.ts';
import { rerunFailures } from './rerun-failures.ts';

const result = (file: string, name: string, status: TestResult['status'], message = ''): TestResult => {
  return { file, name, status, message };
};

async function look(first: TestResult[], second: TestResult[], files = ['a.test.ts', 'b.test.ts']) {
  await using folder = await temporaryFolder();
  const asked: (readonly string[] | undefined)[] = [];
  const part: Part = {
    name: 'system',
    description: '',
    group: 'all',
    timeoutMs: 1,
    files: () => files,
    run: ({ filter }): Promise<PartOutcome> => {
      asked.push(filter.files);
      return Promise.resolve({ results: second, output: 'second' });
    },
  };
  const context: PartContext = {
    root: folder.path,
    outFolder: folder.path,
    environment: {},
    isRoot: false,
    filter: {},
    signal: new AbortController().signal,
    progress: () => undefined,
    figure: () => undefined,
  };
  return { ...(await rerunFailures(part, context, { results: first, output: 'first' })), asked };
}

describe('rerunFailures', () => {
  it('reruns only failed files, and keeps the results of the others', async () => {
    const first = [result('a.test.ts', 'x', 'passed'), result('b.test.ts', 'y', 'failed', 'slow')];
    const { results, asked } = await look(first, [result('b.test.ts', 'y', 'passed')]);
    expect(asked).toEqual([['b.test.ts']]);
    expect(results).toEqual([
      result('a.test.ts', 'x', 'passed'),
      { ...result('b.test.ts', 'y', 'passed'), failedFirstOf: 'slow' },
    ]);
  });

  it('keeps a second failure, and fails a test that passed before', async () => {
    const first = [result('b.test.ts', 'x', 'passed'), result('b.test.ts', 'y', 'failed')];
    const { results, output } = await look(first, [
      result('b.test.ts', 'x', 'failed'),
      result('b.test.ts', 'y', 'failed'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(output).toBe('first\nsecond');
  });

  it('reruns neither checks nor a part with many failed files', async () => {
    expect((await look([result('system', 'the run itself', 'failed')], [])).asked).toEqual([]);
    const many = ['1', '2', '3', '4', '5'].map((name) => `${name}.test.ts`);
    const failures = many.map((file) => result(file, 'x', 'failed'));
    expect((await look(failures, [], many)).asked).toEqual([]);
    expect((await look([result('a.test.ts', 'x', 'passed')], [])).asked).toEqual([]);
  });
});
