import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { outcomeOf } from './outcome.ts';
import { readExpectedPasses } from './records.ts';
import { runVersitygwSuite } from './run.ts';

describeRequiring(['linux', 'go'], "VersityGW's client-side suite", () => {
  it('passes every test that it passed before', async () => {
    const expected = await readExpectedPasses();
    expect(expected).not.toEqual([]);
    const { outcomes, durationMs } = await runVersitygwSuite();
    const passed = new Set(outcomes.filter((each) => each.status === 'passed').map((each) => each.name));
    const seconds = Math.round(durationMs / 1000);
    console.log(`figure: VersityGW's suite: ${passed.size} of ${outcomes.length} tests pass, in ${seconds} s`);
    const lost = new Set(expected.filter((name) => !passed.has(name)));
    const reasons = outcomes.filter((each) => lost.has(each.name)).map((each) => `${each.name}: ${each.reason}`);
    expect(reasons).toEqual([]);
    expect([...lost]).toEqual([]); // a listed test that the suite does not have any more
  });

  it('counts only what says that it passed and nothing else', () => {
    expect(outcomeOf('A', 'RUN  A\nPASS A', true)).toMatchObject({ status: 'passed' });
    expect(outcomeOf('A', 'RUN  A\nFAIL A: no\nPASS A', true)).toMatchObject({ status: 'failed', reason: 'no' });
    expect(outcomeOf('A', 'RUN  A\npanic: nil', false)).toMatchObject({ status: 'failed' });
    expect(outcomeOf('A', 'RUN  A\nPASS A', false)).toMatchObject({ status: 'failed' });
    expect(outcomeOf('A', 'SKIP A', true)).toMatchObject({ status: 'skipped' });
  });
});
