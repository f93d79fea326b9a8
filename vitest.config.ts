import { defineConfig } from 'vitest/config';
import { TEST_KINDS } from './tools/test/kinds.ts';

/** One project per kind of test files; `svc test` runs them one after the other, `npx vitest run PATH` runs any. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 3,
    projects: TEST_KINDS.map((kind) => ({
      test: {
        name: kind.name,
        include: [...kind.include],
        exclude: ['**/node_modules/**', '**/dist/**', '.cache/**', ...(kind.exclude ?? [])],
        testTimeout: kind.testTimeoutMs,
        // Modules have no mutable state, so unit tests share those of their worker: this halves the processor time.
        isolate: kind.sequential,
        hookTimeout: Math.max(kind.testTimeoutMs, 300_000),
        // A busy machine takes its time; a condition that never comes still ends the test.
        expect: { poll: { timeout: 15_000 } },
      },
    })),
  },
});
