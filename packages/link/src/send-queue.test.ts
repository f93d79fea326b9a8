import { MessageBudget } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { SendQueue } from './send-queue.ts';

const rate = { perMinute: 60, burst: 10, controlShare: 0.3 };

function createQueue(maxMessages = 100) {
  const clock = fakeClock();
  const written: string[] = [];
  let overflows = 0;
  const queue = new SendQueue({
    budget: new MessageBudget(rate, () => clock.nowMs()),
    clock,
    write: (text) => {
      written.push(text);
      return Promise.resolve();
    },
    onOverflow: () => {
      overflows += 1;
      return new Error('the peer does not read');
    },
    maxMessages,
  });
  return { clock, written, queue, overflows: () => overflows };
}

describe('SendQueue', () => {
  it('reserves a share of the rate for control messages', async () => {
    const { clock, written, queue } = createQueue();
    for (let index = 0; index < 20; index += 1) void queue.send(`output ${index}`, false);
    await clock.advance(0);
    expect(written).toHaveLength(7);
    void queue.send('result', true);
    await clock.advance(0);
    expect(written.at(-1)).toBe('result');
  });

  it('does not let control messages starve all others', async () => {
    const { clock, written, queue } = createQueue();
    for (let index = 0; index < 30; index += 1) void queue.send(`result ${index}`, true);
    for (let index = 0; index < 5; index += 1) void queue.send(`output ${index}`, false);
    await waitFor(async () => {
      await clock.advance(1000);
      return written.includes('output 4');
    });
    expect(written.filter((text) => text.startsWith('result')).length).toBeLessThan(30);
    await waitFor(async () => {
      await clock.advance(1000);
      return written.length === 35;
    });
  });

  it('keeps the order within each lane and the rate over time', async () => {
    const { clock, written, queue } = createQueue();
    for (let index = 0; index < 30; index += 1) void queue.send(String(index), false);
    await clock.advance(0);
    await clock.advance(10_000);
    expect(written.length).toBeGreaterThanOrEqual(16);
    expect(written.length).toBeLessThanOrEqual(18);
    await clock.advance(60_000);
    expect(written).toEqual(Array.from({ length: 30 }, (_, index) => String(index)));
  });

  it('sends control messages ahead of those that wait for the rate', async () => {
    const { clock, written, queue } = createQueue();
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

  it('refuses messages above its limit, in each lane', async () => {
    const { queue, overflows } = createQueue(12);
    const sent = Array.from({ length: 20 }, () => queue.send('x', false).catch((error: Error) => error.message));
    await expect(sent.at(-1)).resolves.toBe('the peer does not read');
    expect(overflows()).toBeGreaterThan(0);
  });

  it('rejects queued messages when it is closed, and leaves no timer', async () => {
    const { clock, queue } = createQueue();
    const sent = Array.from({ length: 15 }, () =>
      queue.send('x', false).then(
        () => 'sent',
        (error: Error) => error.message,
      ),
    );
    await clock.advance(0);
    queue.close(new Error('gone'));
    expect((await Promise.all(sent)).filter((outcome) => outcome === 'gone').length).toBeGreaterThan(0);
    await expect(queue.send('late', true)).rejects.toThrow('gone');
    expect(clock.pendingTimers()).toBe(0);
  });
});
