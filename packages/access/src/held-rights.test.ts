import { defineErrors } from '@svc/errors';
import { fakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { HeldRights, type HeldRight } from './held-rights.ts';

const refusals = defineErrors({ GONE: [403, 'gone'], BROKEN: [503, 'broken'] });
const stands = (): Promise<void> => Promise.resolve();
const gone = (): Promise<void> => Promise.reject(refusals.GONE());

describe('held rights', () => {
  let clock: ReturnType<typeof fakeClock>;
  let errors: unknown[];
  let rights: HeldRights;
  let ended: string[];
  beforeEach(() => {
    clock = fakeClock();
    errors = [];
    ended = [];
    rights = new HeldRights({
      nowMs: () => clock.nowMs(),
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      onError: (error) => errors.push(error),
    });
  });

  function right(key: string, check: () => Promise<void>, exactKey = key): HeldRight {
    return { key, exactKey, confirmedAtMs: clock.nowMs(), check };
  }

  function hold(name: string, check: () => Promise<void>, shared: Partial<HeldRight> = {}): () => void {
    return rights.hold({ ...right(name, check), ...shared }, ({ code }) => ended.push(`${name} ${code}`));
  }

  it('end within a second of their loss, once, and the others stay', async () => {
    let isGone = false;
    hold('kept', stands);
    hold('lost', () => (isGone ? gone() : stands()));
    await clock.advance(10_000);
    expect(ended).toEqual([]);
    isGone = true;
    await clock.advance(900);
    expect(ended).toEqual(['lost GONE']);
    await clock.advance(10_000);
    expect(ended).toEqual(['lost GONE']);
    expect(rights).toMatchObject({ size: 1, ended: 1 });
  });

  it('are checked once for everything that shares them, however much that is', async () => {
    let asked = 0;
    const check = (): Promise<void> => {
      asked += 1;
      return Promise.resolve();
    };
    for (let index = 0; index < 10_000; index += 1) hold(`stream ${index}`, check, { key: 'one', exactKey: 'one' });
    await clock.advance(10_000);
    expect(asked).toBeLessThanOrEqual(14);
    expect(rights.size).toBe(10_000);
  });

  it('are not asked for before they are older than short requests get, so that short requests cost nothing', async () => {
    let asked = 0;
    for (let round = 0; round < 20; round += 1) {
      const release = hold('short', async () => void (asked += 1));
      await clock.advance(500);
      release();
    }
    expect(asked).toBe(0);
    expect(clock.pendingTimers()).toBeLessThanOrEqual(1);
    await clock.advance(1_000);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('end alone where only the exact question was refused', async () => {
    hold('before the sign-out', gone, { key: 'oidc', exactKey: 'oidc 1' });
    hold('after the sign-out', stands, { key: 'oidc', exactKey: 'oidc 2' });
    await clock.advance(1_500);
    expect(ended).toEqual(['before the sign-out GONE']);
    await clock.advance(10_000);
    expect(ended).toHaveLength(1);
    expect(rights.size).toBe(1);
  });

  it('stand for a while when they cannot be asked for, and go when they can again', async () => {
    let answer: () => Promise<void> = () => Promise.reject(refusals.BROKEN());
    hold('one', () => answer());
    await clock.advance(4000);
    answer = () => Promise.reject(new Error('the database is away'));
    await clock.advance(4000);
    expect(ended).toEqual([]);
    expect(errors.length).toBeGreaterThan(1);
    answer = gone;
    await clock.advance(2000);
    expect(ended).toEqual(['one GONE']);
  });

  it('end when they cannot be asked for during half a minute, even if no check comes back', async () => {
    hold('one', () => Promise.reject(refusals.BROKEN()));
    hold('two', () => new Promise(() => undefined));
    await clock.advance(30_000);
    expect(ended).toEqual([]);
    expect(rights.oldestMs).toBe(30_000);
    await clock.advance(2_000);
    expect(ended.toSorted()).toEqual(['one RIGHT_UNCONFIRMED', 'two RIGHT_UNCONFIRMED']);
  });

  it('are asked for before they end, also when the clock was set', async () => {
    let asked = 0;
    const check = async (): Promise<void> => void (asked += 1);
    hold('confirmed in the future', check, { confirmedAtMs: clock.nowMs() + 3_600_000 });
    hold('confirmed long ago', check, { confirmedAtMs: clock.nowMs() - 3_600_000 });
    await clock.advance(500);
    expect(asked).toBe(2);
    expect(ended).toEqual([]);
  });

  it('end one by one when the end of one fails', async () => {
    const held = right('both', gone);
    rights.hold(held, () => {
      throw new Error('no');
    });
    rights.hold(held, () => ended.push('the other'));
    await clock.advance(2_000);
    expect(ended).toEqual(['the other']);
    expect(errors).toHaveLength(1);
  });

  it('are not asked for once a connection is over, or the platform stops', async () => {
    let asked = 0;
    const count = async (): Promise<void> => void (asked += 1);
    hold('over', count)();
    await clock.advance(10_000);
    hold('stopped', count);
    rights.stop();
    await clock.advance(10_000);
    expect(asked).toBe(0);
    expect(clock.pendingTimers()).toBe(0);
  });
});
