import { Script } from 'node:vm';
import { expect, it } from 'vitest';
import { startCoverage } from './coverage.ts';

it('tells each block that runs for the first time, however deep', () => {
  const coverage = startCoverage((url) => url.endsWith('/own/sample.js'));
  try {
    const source = `\n(text) => {
      if (text[0] === 'F') { if (text[1] === 'U') { if (text[2] === 'Z') return 3; return 2; } return 1; }
      return 0;
    }`;
    const sample = new Script(source, { filename: '/own/sample.js' }).runInThisContext() as (text: string) => number;
    const mark = (text: string): boolean => {
      sample(text);
      return coverage.markNew();
    };
    expect(['a', 'b', 'F', 'Fx', 'FU', 'a', 'FUZ', 'FUZZ', 'FU'].map(mark)).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      false,
    ]);
    sample('FUZ');
    expect(coverage.reachedNew()).toBe(false);
  } finally {
    coverage.stop();
  }
});
