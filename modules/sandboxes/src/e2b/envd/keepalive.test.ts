import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { withKeepalive } from './keepalive.ts';

const IDLE = 'idle';

async function* slowly(steps: readonly Promise<string>[]): AsyncGenerator<string, void> {
  for (const step of steps) yield await step;
}

it('repeats the sign of life while the source is silent, and passes on what it says', async () => {
  const clock = fakeClock();
  const first = Promise.withResolvers<string>();
  const values = withKeepalive(slowly([first.promise]), IDLE, 1000, clock, new AbortController().signal);
  for (let round = 0; round < 3; round += 1) {
    const next = values.next();
    await clock.advance(1000);
    expect(await next).toEqual({ done: false, value: IDLE });
  }
  const next = values.next();
  first.resolve('said');
  expect(await next).toEqual({ done: false, value: 'said' });
  expect(await values.next()).toEqual({ done: true, value: undefined });
  expect(clock.pendingTimers()).toBe(0);
});

it('ends when the signal aborts, although the source says nothing more', async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const values = withKeepalive(slowly([new Promise(() => undefined)]), IDLE, 1000, clock, stop.signal);
  const next = values.next();
  stop.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(clock.pendingTimers()).toBe(0);
});

it('fails like the source', async () => {
  const failing = slowly([Promise.reject(new Error('broken'))]);
  const values = withKeepalive(failing, IDLE, 1000, fakeClock(), new AbortController().signal);
  await expect(values.next()).rejects.toThrow('broken');
});
