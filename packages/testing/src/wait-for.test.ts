import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { collectStream } from './collect-stream.ts';
import { waitFor } from './wait-for.ts';

describe('waitFor', () => {
  it('gives the first value that is neither false, null nor undefined', async () => {
    const values = [false, null, undefined, 0];
    expect(await waitFor(() => values.shift(), { intervalMs: 1 })).toBe(0);
  });

  it('takes a condition that throws as not yet, and its last error as the cause of giving up', async () => {
    const failing = (): never => {
      throw new Error('not there');
    };
    await expect(waitFor(failing, { timeoutMs: 5, intervalMs: 1, description: 'the moon' })).rejects.toMatchObject({
      message: 'waited 5 ms for the moon',
      cause: new Error('not there'),
    });
  });
});

describe('collectStream', () => {
  it('reads a stream to its end', async () => {
    expect((await collectStream(Readable.from([Buffer.from('a'), Buffer.from('b')]))).toString()).toBe('ab');
  });

  it('refuses a stream that is longer than allowed', async () => {
    await expect(collectStream(Readable.from(['aaa', 'bbb']), 5)).rejects.toThrow('longer than 5 bytes');
  });
});
