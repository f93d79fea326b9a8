import { MessageBudget } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { SendQueue } from './send-queue.ts';

const RATE = { perMinute: 60, burst: 10, controlShare: 0.3 };

describe('MessageBudget', () => {
  it('reserves a share of the burst for control messages', () => {
    const budget = new MessageBudget(RATE, () => 0);
    const taken = (control: boolean): number => {
      let count = 0;
      while (budget.take(control) === 0) count += 1;
      return count;
    };
    expect(taken(false)).toBe(7);
    expect(taken(true)).toBe(3);
  });

  it('returns the wait time and never exceeds the rate per minute', () => {
    let nowMs = 0;
    const budget = new MessageBudget(RATE, () => nowMs);
    let sent = 0;
    while (nowMs < 60_000) {
      const waitMs = budget.take(true);
      if (waitMs === 0) sent += 1;
      else nowMs += waitMs;
    }
    expect(sent).toBeGreaterThanOrEqual(69);
    expect(sent).toBeLessThanOrEqual(70);
  });

  it('loses no budget when the clock is set back', () => {
    let nowMs = 100_000;
    const budget = new MessageBudget(RATE, () => nowMs);
    nowMs = 0;
    expect(budget.take(true)).toBe(0);
  });
});

describe('SendQueue', () => {
  it('sends control messages ahead of those that wait for the rate', async () => {
    const clock = fakeClock();
    const written: string[] = [];
    const queue = new SendQueue({
      budget: new MessageBudget(RATE, clock.nowMs),
      clock,
      write: async (text) => void written.push(text),
      onOverflow: () => undefined,
      maxMessages: 100,
    });
    const sending = Array.from({ length: 9 }, (_, index) => queue.send(`bulk ${index}`, false));
    await Promise.all(sending.slice(0, 7));
    await queue.send('control', true);
    expect(written.at(-1)).toBe('control');
    expect(written).toHaveLength(8);
    await clock.advance(10_000);
    await Promise.all(sending);
    expect(written.slice(-2)).toEqual(['bulk 7', 'bulk 8']);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('does not let control messages starve all others', async () => {
    const clock = fakeClock();
    const written: string[] = [];
    const queue = new SendQueue({
      budget: new MessageBudget(RATE, clock.nowMs),
      clock,
      write: async (text) => void written.push(text),
      onOverflow: () => undefined,
      maxMessages: 100,
    });
    const acks = Array.from({ length: 40 }, (_, index) => queue.send(`ack ${index}`, true));
    const commands = Array.from({ length: 5 }, (_, index) => queue.send(`command ${index}`, false));
    await waitFor(async () => {
      await clock.advance(1000);
      return written.includes('command 4');
    });
    expect(written.filter((text) => text.startsWith('ack')).length).toBeLessThan(40);
    await waitFor(async () => {
      await clock.advance(1000);
      return written.length === 45;
    });
    await Promise.all([...acks, ...commands]);
  });

  it('rejects queued messages when the connection ends, and reports a full queue', async () => {
    const clock = fakeClock();
    let overflows = 0;
    const queue = new SendQueue({
      budget: new MessageBudget(RATE, clock.nowMs),
      clock,
      write: () => new Promise(() => undefined), // a peer that reads nothing
      onOverflow: () => {
        overflows += 1;
      },
      maxMessages: 2,
    });
    const outcomes = Promise.allSettled([1, 2, 3, 4, 5].map((each) => queue.send(String(each), false).catch(String)));
    expect(overflows).toBeGreaterThan(0);
    queue.close(new Error('gone'));
    await expect(queue.send('late', true)).rejects.toThrow('gone');
    void outcomes; // the frame held by the kernel settles with its socket
  });
});
