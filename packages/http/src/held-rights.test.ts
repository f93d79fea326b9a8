import { defineErrors } from '@svc/errors';
import { fakeAccess, fakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuthorizeRequest, Principal } from './access.ts';
import { assertStillGranted, HeldRights } from './held-rights.ts';

const refusals = defineErrors({ GONE: [403, 'gone'], BROKEN: [503, 'broken'] });

describe('held rights', () => {
  let clock: ReturnType<typeof fakeClock>;
  let errors: unknown[];
  let rights: HeldRights;
  let told: string[];
  beforeEach(() => {
    clock = fakeClock();
    errors = [];
    told = [];
    rights = new HeldRights({
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      onError: (error) => errors.push(error),
    });
  });

  function hold(name: string, check: () => Promise<void>): () => void {
    return rights.hold({ check, taken: ({ code }) => told.push(`${name} ${code}`) });
  }

  it('are asked for again, and whoever lost one is told once', async () => {
    let isGone = false;
    hold('kept', () => Promise.resolve());
    hold('taken', () => (isGone ? Promise.reject(refusals.GONE()) : Promise.resolve()));
    await clock.advance(10_000);
    expect(told).toEqual([]);
    isGone = true;
    await clock.advance(10_000);
    expect(told).toEqual(['taken GONE']);
  });

  it('stay while nobody can be asked, and go when somebody can again', async () => {
    let answer: () => Promise<void> = () => Promise.reject(refusals.BROKEN());
    hold('one', () => answer());
    await clock.advance(4000);
    answer = () => Promise.reject(new Error('the database is away'));
    await clock.advance(4000);
    expect(told).toEqual([]);
    expect(errors.length).toBeGreaterThan(1);
    answer = () => Promise.reject(refusals.GONE());
    await clock.advance(4000);
    expect(told).toEqual(['one GONE']);
  });

  it('are not asked for once a connection is over, or the platform stops', async () => {
    let asked = 0;
    const count = (): Promise<void> => {
      asked += 1;
      return Promise.resolve();
    };
    hold('over', count)();
    await clock.advance(10_000);
    hold('stopped', count);
    rights.stop();
    await clock.advance(10_000);
    expect(asked).toBe(0);
  });
});

describe('what was granted before', () => {
  const access = fakeAccess();
  const owner = access.user('owner');
  const team = access.team(owner.workspaceUuid);

  async function granted(role: 'admin' | 'member') {
    const caller = access.user(role);
    access.join(team, caller, role);
    const source = { headers: caller.headers, method: 'GET', remoteAddress: '' };
    const request: AuthorizeRequest = {
      principal: caller.principal,
      action: 'command:exec',
      workspaceUuid: owner.workspaceUuid,
      teamUuid: team,
    };
    return { caller, before: { source, request, grant: await access.authorize(request) } };
  }

  it('is refused with another role, although the new one might do it', async () => {
    const { caller, before } = await granted('admin');
    await assertStillGranted(access, before);
    access.join(team, caller, 'member');
    await expect(assertStillGranted(access, before)).rejects.toMatchObject({ status: 403 });
  });

  it('is refused with a revoked token, and not with a JWT whose time is over', async () => {
    const { caller, before } = await granted('member');
    access.revoke(caller);
    await expect(assertStillGranted(access, before)).rejects.toMatchObject({ status: 401 });
    const principal: Principal = { ...caller.principal, credential: 'jwt' };
    const byJwt = { ...before, request: { ...before.request, principal } };
    await assertStillGranted(access, byJwt);
    access.leave(team, caller);
    await expect(assertStillGranted(access, byJwt)).rejects.toMatchObject({ status: 403 });
  });
});
