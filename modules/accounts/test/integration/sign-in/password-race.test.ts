import { randomBytes } from 'node:crypto';
import { migrations } from '@svc/migrations';
import { systemRandom } from '@svc/runtime';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { PasswordChange } from '../../../src/domain/password/password-change.ts';
import { Argon2PasswordHasher, type PasswordHasher } from '../../../src/domain/password/password-hasher.ts';
import { PasswordProof } from '../../../src/domain/password/password-proof.ts';
import { addUser, newUser, PASSWORD, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';
import { LoginThrottle } from '../../../src/domain/sign-in/login-throttle.ts';
import { SignIn } from '../../../src/domain/sign-in/sign-in.ts';
import { Sessions } from '../../../src/domain/sign-in/sessions.ts';

const EMAIL = 'ann@example.com';
const RESET = 'the password of the reset';
const from = { remoteAddress: '198.51.100.1', userAgent: 'test', deviceSecret: null };

describeDialects<unknown>('a password reset while the old one is being checked', migrations, (database) => {
  const accounts = useAccounts(database);

  /** Checks like the real hasher, then resets the password, as if the check had been queued. */
  const slowHasher = (outdated = false): PasswordHasher => {
    const real = new Argon2PasswordHasher({ memoryKib: 8, passes: 1, parallelism: 1 }, randomBytes);
    return {
      hash: (password, client) => real.hash(password, client),
      check: async (password, stored, client) => {
        const answer = await real.check(password, stored, client);
        await accounts().module.resetPassword(EMAIL, RESET);
        return { ...answer, outdated };
      },
    };
  };
  const parts = () => {
    const { clock, database } = accounts();
    const throttle = new LoginThrottle(
      database,
      {
        addressBurst: 10,
        addressPerMinute: 10,
        accountBurst: 10,
        accountPerMinute: 10,
        freeFailures: 5,
        maxDelaySeconds: 1,
      },
      clock,
    );
    return { clock, throttle };
  };

  it.each([false, true])('admits no sign-in with the old one (hash outdated: %s)', async (outdated) => {
    const user = await addUser(accounts(), EMAIL);
    const { clock, throttle } = parts();
    const store = accounts().database;
    const sessions = new Sessions(store, clock, systemRandom, {
      lifetimeSeconds: 3600,
      idleSeconds: 3600,
      maxPerUser: 5,
    });
    const login = new SignIn(store, clock, systemRandom, slowHasher(outdated), sessions, throttle);
    expect(await login.login({ ...from, email: EMAIL, password: PASSWORD })).toEqual({
      outcome: 'refused',
      userId: user.id,
    });
    expect(await store.sessions.deleteOfUser(user.id)).toBe(0);
    await expect(signIn(accounts(), EMAIL)).rejects.toThrow('401');
    expect((await signIn(accounts(), EMAIL, RESET)).id).toBe(user.id);
  });

  it('is not overwritten by a change that proved the old one', async () => {
    const user = await newUser(accounts(), EMAIL);
    const { clock, throttle } = parts();
    const hasher = slowHasher();
    const proof = new PasswordProof(hasher, throttle);
    const change = new PasswordChange(accounts().database, clock, hasher, proof).change({
      userId: user.id,
      currentPassword: PASSWORD,
      newPassword: 'the password of the attacker',
      keepSessionId: null,
      remoteAddress: from.remoteAddress,
    });
    await expect(change).rejects.toMatchObject({ code: 'WRONG_PASSWORD', details: { field: 'current_password' } });
    expect((await signIn(accounts(), EMAIL, RESET)).id).toBe(user.id);
  });
});
