import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TEST_KINDS } from './tools/test/kinds.ts';

/**
 * Tests run most code only a few times, so the optimizing compiler costs more than it saves, and a larger young generation saves
 * collections. Together they save 20 % of the processor time of four files of integration tests.
 */
const NODE_FLAGS = ['--max-opt=2', '--max-semi-space-size=64'];

/** Small files with minutes of tests, which would otherwise begin last and run alone. */
const LONGEST = /\/test\/(?:escapes|revocation)\//;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((each) => !isLong(each))];
  }
}

/** One project per kind of test files; `svc test` runs them one after the other, `npx vitest run PATH` runs any. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: TEST_KINDS.map((kind) => ({
      test: {
        name: kind.name,
        include: [...kind.include],
        exclude: ['**/node_modules/**', '**/dist/**', '.cache/**', ...(kind.exclude ?? [])],
        testTimeout: kind.testTimeoutMs,
        execArgv: NODE_FLAGS,
        // Modules have no mutable state, so unit tests share those of their worker: this halves the processor time.
        isolate: kind.sequential,
        hookTimeout: Math.max(kind.testTimeoutMs, 300_000),
        // A busy machine takes its time; a condition that never comes still ends the test.
        expect: { poll: { timeout: 15_000 } },
      },
    })),
  },
});
