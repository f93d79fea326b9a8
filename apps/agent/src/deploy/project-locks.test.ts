import { describe, expect, it } from 'vitest';
import { ProjectLocks } from './project-locks.ts';

const never = new AbortController().signal;

describe('the lock of a project', () => {
  it('lets one run and one wait; a newer one supersedes the waiting one', async () => {
    const locks = new ProjectLocks();
    const release = await locks.acquire('a', never);
    const second = locks.acquire('a', never);
    const third = locks.acquire('a', never);
    await expect(second).rejects.toMatchObject({ code: 'SUPERSEDED' });
    expect(locks.position('a')).toBe(1);
    release();
    release();
    const releaseThird = await third;
    releaseThird();
    expect(locks.position('a')).toBe(0);
  });

  it('keeps projects apart', async () => {
    const locks = new ProjectLocks();
    await locks.acquire('a', never);
    await expect(locks.acquire('b', never)).resolves.toBeTypeOf('function');
  });

  it('is not given to one that was cancelled while it waited', async () => {
    const locks = new ProjectLocks();
    const release = await locks.acquire('a', never);
    const controller = new AbortController();
    const waiting = locks.acquire('a', controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    const next = locks.acquire('a', never);
    release();
    await expect(next).resolves.toBeTypeOf('function');
  });
});
