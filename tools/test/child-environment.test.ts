import { expect, it } from 'vitest';
import { childEnvironment, fuzzTimeMs } from './child-environment.ts';

it('removes settings of the user’s platform from the test environment, and keeps test settings', () => {
  const given = {
    HOME: '/root',
    FORCE_COLOR: '1',
    SVC_URL: 'http://127.0.0.1:4000',
    SVC_TOKEN: 'secret',
    SVC_TEST_POSTGRES_URL: 'postgres://localhost',
    SVC_FUZZ_SECONDS: '600',
  };
  expect(childEnvironment(given)).toEqual({
    HOME: '/root',
    NO_COLOR: '1',
    PATH: expect.stringContaining('/usr/bin:/bin'),
    SVC_TEST_POSTGRES_URL: 'postgres://localhost',
    SVC_FUZZ_SECONDS: '600',
  });
});

it('extends a run by the time of its fuzz targets', () => {
  const files = ['a.fuzz.test.ts', 'b.test.ts', 'c.fuzz.test.ts'];
  expect(fuzzTimeMs({ SVC_FUZZ_SECONDS: '600' }, files)).toBe(1_200_000);
  expect(fuzzTimeMs({}, files)).toBe(0);
});
