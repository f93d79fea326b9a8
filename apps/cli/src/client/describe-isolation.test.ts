import { expect, it } from 'vitest';
import { describeIsolation } from './describe-isolation.ts';

it.each([
  ['gvisor', null, 'isolated by gVisor'],
  ['gvisor', 'runsc is not installed', 'but none can be made: runsc is not installed'],
  ['namespaces', 'runsc is not installed', "sharing the host's kernel: runsc is not installed"],
  ['namespaces', null, "sharing the host's kernel"], // from a platform that gives no reason
  [null, null, null],
])('describes isolation %s with the reason %s as: %s', (isolation, reason, words) => {
  expect(describeIsolation({ isolation, isolation_reason: reason })).toBe(words);
});
