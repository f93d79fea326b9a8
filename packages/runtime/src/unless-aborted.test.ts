import { expect, it } from 'vitest';
import { unlessAborted } from './unless-aborted.ts';

const error = (): Error => new Error('too late');

it('returns what the work returns', async () => {
  expect(await unlessAborted(Promise.resolve(1), new AbortController().signal, error)).toBe(1);
});

it('waits no longer than until the signal aborts', async () => {
  const stop = new AbortController();
  const waiting = unlessAborted(new Promise(() => undefined), stop.signal, error);
  stop.abort();
  await expect(waiting).rejects.toThrow('too late');
  await expect(unlessAborted(new Promise(() => undefined), stop.signal, error)).rejects.toThrow('too late');
});
