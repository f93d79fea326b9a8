import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { LoginThrottle, type Attempt } from '../../../src/domain/sign-in/login-throttle.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const LIMITS = {
  addressBurst: 100,
  addressPerMinute: 100,
  accountBurst: 8,
  accountPerMinute: 8,
  freeFailures: 4,
  maxDelaySeconds: 60,
};

describeDialects<unknown>('the throttles of two replicas', migrations, (database) => {
  const accounts = useAccounts(database);
  const createReplica = () => new LoginThrottle(accounts().database, LIMITS, accounts().clock);
  const from = (number: number): Attempt => ({
    remoteAddress: `192.0.2.${number}`,
    account: 'ann@example.com',
    knownDevice: null,
  });

  /** Sends these attempts to the replicas in turns, all at once. Returns the number that had their password checked. */
  async function countChecked(attempts: readonly Attempt[], matches = false): Promise<number> {
    const replicas = [createReplica(), createReplica()] as const;
    let checked = 0;
    const check = async () => {
      checked += 1;
      return { matches };
    };
    await Promise.allSettled(
      attempts.map((attempt, index) => replicas[index % 2 === 0 ? 0 : 1].attempt(attempt, check)),
    );
    return checked;
  }

  it('allow together as many guesses from one address as one of them', async () => {
    expect(await countChecked(Array.from({ length: 20 }, () => from(1)))).toBe(5); // four free ones, then one second
  });

  it('allow together as many guesses from many addresses as one of them', async () => {
    expect(await countChecked(Array.from({ length: 30 }, (_, index) => from(index)))).toBe(8);
  });

  it('count no success', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(
        await countChecked(
          Array.from({ length: 4 }, () => from(1)),
          true,
        ),
      ).toBe(4);
    }
  });

  it('forget what was left untouched for a day', async () => {
    await countChecked([from(1)]);
    const { throttles } = accounts().database;
    const nowMs = accounts().clock.nowMs();
    expect([await throttles.deleteUntouched(nowMs, 10), await throttles.deleteUntouched(nowMs + 1, 10)]).toEqual([
      0, 3,
    ]);
  });
});
