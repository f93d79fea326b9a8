import { fakeClock, type FakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkLeaseCommands } from './ports/work-leases.ts';
import { WorkLease } from './work-lease.ts';

const DURATION_MS = 30_000;

/** One lease in memory, with the rules of its port. */
function memoryLeases(): WorkLeaseCommands {
  let held: { holder: string; untilMs: number } | null = null;
  return {
    takeLease: async ({ holder, nowMs, untilMs }) => {
      if (held !== null && held.holder !== holder && held.untilMs > nowMs) return false;
      held = { holder, untilMs };
      return true;
    },
    releaseLease: async ({ holder }) => {
      if (held?.holder === holder) held = null;
    },
  };
}

describe('WorkLease', () => {
  let clock: FakeClock;
  let metadata: WorkLeaseCommands;
  const lease = (holder: string, renewAfterMs?: number): WorkLease =>
    new WorkLease({
      metadata,
      name: 'work',
      holder,
      durationMs: DURATION_MS,
      clock,
      ...(renewAfterMs === undefined ? {} : { renewAfterMs }),
    });

  beforeEach(() => {
    clock = fakeClock();
    metadata = memoryLeases();
  });

  it('belongs to one process until it expires', async () => {
    const [one, other] = [lease('one'), lease('other')];
    expect(await one.keep()).toBe(true);
    expect(await other.keep()).toBe(false);
    await clock.advance(DURATION_MS);
    expect(await other.keep()).toBe(true);
    expect(await one.keep()).toBe(false);
  });

  it('goes to another process at once when it is released', async () => {
    const [one, other] = [lease('one'), lease('other')];
    await one.keep();
    await one.release();
    expect(await other.keep()).toBe(true);
  });

  it('is renewed by each call', async () => {
    const [one, other] = [lease('one'), lease('other')];
    await one.keep();
    await clock.advance(DURATION_MS - 1);
    expect(await one.keep()).toBe(true);
    await clock.advance(DURATION_MS - 1);
    expect(await other.keep()).toBe(false);
  });

  it('is renewed only after a while if it should', async () => {
    const take = vi.spyOn(metadata, 'takeLease');
    const one = lease('one', 10_000);
    await one.keep();
    await clock.advance(9_999);
    expect(await one.keep()).toBe(true);
    expect(take).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(await one.keep()).toBe(true);
    expect(take).toHaveBeenCalledTimes(2);
  });

  it('is released once, and not at all if another process has it', async () => {
    const release = vi.spyOn(metadata, 'releaseLease');
    const [one, other] = [lease('one'), lease('other')];
    await one.release();
    await one.keep();
    await other.keep();
    await other.release();
    expect(release).not.toHaveBeenCalled();
    await one.release();
    await one.release();
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('is still released after a renewal that failed', async () => {
    const [one, other] = [lease('one'), lease('other')];
    await one.keep();
    vi.spyOn(metadata, 'takeLease').mockRejectedValueOnce(new Error('no database'));
    await expect(one.keep()).rejects.toThrow('no database');
    await one.release();
    expect(await other.keep()).toBe(true);
  });
});
