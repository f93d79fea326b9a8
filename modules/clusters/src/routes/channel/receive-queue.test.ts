import { MessageBudget } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { ReceiveQueue } from './receive-queue.ts';

describe('ReceiveQueue', () => {
  it('keeps the order, stops reading when full, and drops nothing', async () => {
    const clock = fakeClock();
    const handled: string[] = [];
    const reading: string[] = [];
    let limited = 0;
    const queue = new ReceiveQueue<string>({
      budget: new MessageBudget({ perMinute: 60, burst: 10, controlShare: 0.3 }, clock.nowMs),
      clock,
      handle: async (message) => void handled.push(message),
      isPriority: (message) => message.startsWith('!'),
      onLimited: () => {
        limited += 1;
      },
      pause: () => reading.push('pause'),
      resume: () => reading.push('resume'),
      onError: (error) => {
        throw error;
      },
      maxMessages: 20,
      maxSizeBytes: 1000,
    });
    const ordinary = Array.from({ length: 30 }, (_, index) => `m${index}`);
    for (const message of ordinary) queue.push(message, 1);
    await waitFor(() => handled.length === 10);
    expect(reading).toEqual(['pause']);
    queue.push('!heartbeat', 1);
    await waitFor(async () => {
      await clock.advance(1000);
      return handled.includes('!heartbeat');
    });
    expect(handled.indexOf('!heartbeat')).toBe(10);
    expect(limited).toBeGreaterThan(0);
    await waitFor(async () => {
      await clock.advance(1000);
      return handled.length === 31;
    });
    expect(handled.filter((message) => !message.startsWith('!'))).toEqual(ordinary);
    expect(reading).toEqual(['pause', 'resume']);
    await queue.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});
