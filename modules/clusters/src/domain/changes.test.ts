import { getEventListeners } from 'node:events';
import { fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { Changes } from './changes.ts';

const POLL_MS = 2000;

describe('waiting for a change', () => {
  it('ends on a change, on timeout, and on abort', async () => {
    const clock = fakeClock();
    const changes = new Changes(clock, POLL_MS);
    const reader = new AbortController();
    const subscription = changes.subscribe('command:1');

    const changed = subscription.next(60_000, reader.signal);
    changes.notify('command:1');
    await changed;

    const polled = subscription.next(60_000, reader.signal);
    await clock.advance(POLL_MS);
    await polled;

    const left = subscription.next(60_000, reader.signal);
    reader.abort();
    await left;
    subscription.end();
    expect(changes.count('command:1')).toBe(0);
  });

  it('returns at once for a change that came before the wait', async () => {
    const changes = new Changes(fakeClock(), POLL_MS);
    const subscription = changes.subscribe('command:1');
    changes.notify('command:1');
    await subscription.next(60_000, new AbortController().signal);
    subscription.end();
  });

  it('removes its listeners from a long-lived signal', async () => {
    const clock = fakeClock();
    const changes = new Changes(clock, POLL_MS);
    const { signal } = new AbortController();
    const subscription = changes.subscribe('events:1');
    for (let wait = 0; wait < 3; wait += 1) {
      const polled = subscription.next(60_000, signal);
      await clock.advance(POLL_MS);
      await polled;
      const changed = subscription.next(60_000, signal);
      changes.notify('events:1');
      await changed;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    subscription.end();
  });
});
