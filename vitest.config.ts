import { defineConfig } from 'vitest/config';

/** `*.test.ts` beside the code. `test/` holds what needs real processes and outside parts; the runner starts those. */
export default defineConfig({
  test: {
    include: ['{packages,modules,apps,sdks,migrations}/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '.cache/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
