import { expect, it } from 'vitest';
import { LoginThrottle, type Attempt } from './login-throttle.ts';

function createThrottle(): LoginThrottle {
  const options = {
    addressBurst: 1000,
    addressPerMinute: 1000,
    accountBurst: 1000,
    accountPerMinute: 1000,
    freeFailures: 1000,
    maxDelaySeconds: 60,
  };
  return new LoginThrottle(options, () => new Date(0));
}

it('refuses the 33rd concurrent attempt on one account from one address, but not on another account', async () => {
  const throttle = createThrottle();
  const attempt: Attempt = { remoteAddress: '192.0.2.1', account: 'a@example.com', knownDevice: null };
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
