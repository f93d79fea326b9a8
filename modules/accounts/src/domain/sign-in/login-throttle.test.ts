import { expect, it } from 'vitest';
import type { CountedAttempts } from './counted-attempts.ts';
import { LoginThrottle, type Attempt, type ThrottleDatabase } from './login-throttle.ts';

function createDatabase(): ThrottleDatabase & { transactions: number } {
  const rows = new Map<string, CountedAttempts>();
  const database = {
    transactions: 0,
    transact: <Result>(work: Parameters<ThrottleDatabase['transact']>[0]) => {
      database.transactions += 1;
      return work({ throttles }) as Promise<Result>; // what `work` returns
    },
  };
  const throttles = {
    lock: async (keys: readonly string[], atMs: number) => keys.map((key) => rows.get(key) ?? { key, amount: 0, atMs }),
    save: async (attempts: readonly CountedAttempts[]) => attempts.forEach((each) => rows.set(each.key, each)),
    deleteUntouched: async () => 0,
  };
  return database;
}

const LIMITS = {
  addressBurst: 1000,
  addressPerMinute: 1000,
  accountBurst: 1000,
  accountPerMinute: 1000,
  freeFailures: 1000,
  maxDelaySeconds: 60,
};
const attempt: Attempt = { remoteAddress: '192.0.2.1', account: 'a@example.com', knownDevice: null };

it('refuses the 33rd concurrent attempt on one account from one address, but not on another account', async () => {
  const throttle = new LoginThrottle(createDatabase(), LIMITS, { nowMs: () => 0 });
  const gate = Promise.withResolvers<{ matches: boolean }>();
  const pending = Array.from({ length: 32 }, () => throttle.attempt(attempt, () => gate.promise));
  await expect(throttle.attempt(attempt, () => gate.promise)).rejects.toMatchObject({
    code: 'BUSY',
    headers: { 'retry-after': '1' },
  });
  const other = { ...attempt, account: 'b@example.com' };
  await expect(throttle.attempt(other, async () => ({ matches: true }))).resolves.toEqual({ matches: true });
  gate.resolve({ matches: true });
  await Promise.all(pending);
});

it('asks the database nothing about an attempt that it knows to be refused', async () => {
  const database = createDatabase();
  let nowMs = 0;
  const throttle = new LoginThrottle(database, { ...LIMITS, freeFailures: 0 }, { nowMs: () => nowMs });
  const fail = (): Promise<unknown> => throttle.attempt(attempt, async () => ({ matches: false }));
  await fail();
  for (let count = 0; count < 5; count += 1) await expect(fail()).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
  expect(database.transactions).toBe(2); // the failure and the first refusal
  nowMs = 1_000;
  await fail();
  expect(database.transactions).toBe(3);
});
