import { expect, it } from 'vitest';
import { retryDelayMs } from './retry-delay.ts';

const middle = (): Buffer => Buffer.from([127]);

it('doubles with each attempt, up to an hour', () => {
  const delays = [0, 1, 2, 50].map((attempts) => retryDelayMs({ attempts, firstMs: 5_000, random: middle }));
  expect(delays.map((delay) => Math.round(delay / 1_000))).toEqual([5, 10, 20, 3_597]);
});

it('varies by a fifth', () => {
  const delay = (byte: number): number =>
    retryDelayMs({ attempts: 0, firstMs: 10_000, random: () => Buffer.from([byte]) });
  expect([delay(0), delay(255)]).toEqual([8_000, 12_000]);
});
