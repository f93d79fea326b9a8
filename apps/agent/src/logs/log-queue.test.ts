import type { CommandOutput } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { LogQueue } from './log-queue.ts';

type Sent = Omit<CommandOutput, 'command_id' | 'seq'>;

function queueWith(send: (piece: Sent) => Promise<void>, maxWaiting = 1000) {
  const clock = fakeClock();
  const sent: Sent[] = [];
  const queue = new LogQueue({
    clock,
    maxWaiting,
    send: async (piece) => {
      await send(piece);
      sent.push(piece);
    },
  });
  return { clock, sent, queue };
}

describe('queued log lines', () => {
  it('are sent together after a quarter of a second', async () => {
    const { clock, sent, queue } = queueWith(() => Promise.resolve());
    queue.add('one\n');
    queue.add('two\n', { newestTime: 'newest', time: 'time', hash: 1, count: 2 });
    await clock.advance(249);
    expect(sent).toEqual([]);
    await clock.advance(1);
    await waitFor(() => sent.length === 1);
    expect(sent).toEqual([{ stream: 'log', encoding: 'utf8', data: 'one\ntwo\n', position: 'newest time 1 2' }]);
  });

  it('lose the oldest while the platform does not read, and the next chunk reports how many', async () => {
    const gate = Promise.withResolvers<void>();
    const { clock, sent, queue } = queueWith(() => gate.promise);
    queue.add('first\n');
    await clock.advance(250);
    for (let index = 0; index < 300; index += 1) queue.add(`line ${String(index).padStart(4, '0')}\n`);
    gate.resolve();
    await queue.end();
    expect(queue.droppedLines).toBe(200);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ dropped_lines: 200 });
    expect(sent[1]?.data.startsWith('line 0200\n')).toBe(true);
  });

  it('pause a reader that can wait', async () => {
    const gate = Promise.withResolvers<void>();
    const { clock, queue } = queueWith(() => gate.promise);
    queue.add('first\n');
    await clock.advance(250);
    queue.add('x'.repeat(900));
    let free = false;
    const waiting = queue.room().then(() => (free = true));
    await clock.advance(1000);
    expect(free).toBe(false);
    gate.resolve();
    await waiting;
    expect(queue.droppedLines).toBe(0);
  });

  it('end if they can never be sent', async () => {
    const { queue } = queueWith(() => Promise.reject(new Error('cancelled')));
    queue.add('lost\n');
    await queue.end();
    await queue.room();
  });
});
