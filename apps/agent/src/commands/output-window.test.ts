import type { CommandOutput } from '@svc/protocol';
import { waitFor } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { OutputWindow } from './output-window.ts';

function piece(seq: number, data = `line-${seq}\n`): CommandOutput {
  return { command_id: 'cmd-1', seq, stream: 'log', encoding: 'utf8', data };
}

describe('output in flight', () => {
  let sent: number[];
  let cut: boolean;
  let acknowledges: boolean;
  let abort: AbortController;
  let arrival: PromiseWithResolvers<void>;
  let window: OutputWindow;
  beforeEach(() => {
    sent = [];
    cut = false;
    acknowledges = true;
    abort = new AbortController();
    arrival = Promise.withResolvers<void>();
    window = new OutputWindow({
      send: ({ seq }) => {
        if (cut) return Promise.reject(new Error('cut'));
        sent.push(seq);
        return Promise.resolve();
      },
      connected: async (signal) => {
        const aborted = new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
          if (signal.aborted) reject(new Error('cancelled'));
        });
        await Promise.race([arrival.promise, aborted]);
      },
      acknowledges: () => acknowledges,
      signal: abort.signal,
      maxWaiting: 20,
    });
  });

  it('is resent in order on the next connection unless it was acknowledged', async () => {
    await window.add(piece(1));
    await window.add(piece(2));
    window.stored(1);
    await window.add(piece(3));
    cut = true;
    const held = window.add(piece(4, ''));
    await waitFor(() => sent.length === 3);
    cut = false;
    window.reconnected();
    arrival.resolve();
    await held;
    expect(sent).toEqual([1, 2, 3, 2, 3, 4]);
  });

  it('is settled only when all of it was acknowledged', async () => {
    await window.add(piece(1));
    let settled = false;
    const end = window.settled().then(() => (settled = true));
    await new Promise(setImmediate);
    expect(settled).toBe(false);
    window.stored(1);
    await end;
    window.reconnected();
    await window.settled();
    expect(sent).toEqual([1]);
  });

  it('pauses its source while too much is unacknowledged', async () => {
    await window.add(piece(1, 'x'.repeat(15)));
    let free = false;
    const next = window.add(piece(2, 'x'.repeat(15))).then(() => (free = true));
    await waitFor(() => sent.length === 2);
    expect(free).toBe(false);
    window.stored(1);
    await next;
  });

  it('counts as delivered once sent if the platform never acknowledges output', async () => {
    acknowledges = false;
    for (let seq = 1; seq <= 10; seq += 1) await window.add(piece(seq, 'x'.repeat(15)));
    await window.settled();
    window.reconnected();
    expect(sent).toHaveLength(10);
  });

  it('is dropped when the command is cancelled while the platform is away', async () => {
    cut = true;
    const held = window.add(piece(1));
    abort.abort();
    await expect(held).rejects.toThrow('cancelled');
    await window.settled();
    await expect(window.add(piece(2))).rejects.toThrow('cancelled');
  });
});
