/** Runs the tests of E2B's projects `unit`, `template` and `connectionConfig` with their settings, in Node. */
export default {
  test: {
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/runtimes/**', 'tests/bundle/**', 'node_modules/**'],
    isolate: true,
    testTimeout: 30_000,
    setupFiles: ['tests/globalFetchFallback.setup.ts'],
  },
};
