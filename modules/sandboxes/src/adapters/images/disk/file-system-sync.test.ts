import { describe, expect, it } from 'vitest';
import { FileSystemSync } from './file-system-sync.ts';

describe('FileSystemSync', () => {
  it('serves all requests made during a run with one more run', async () => {
    const runs: PromiseWithResolvers<void>[] = [];
    const sync = new FileSystemSync(() => {
      const run = Promise.withResolvers<void>();
      runs.push(run);
      return run.promise;
    });
    const told: string[] = [];
    const ask = (name: string): Promise<void> => sync.done().then(() => void told.push(name));
    const first = ask('first');
    await Promise.resolve();
    const later = [ask('second'), ask('third')];
    runs[0]?.resolve();
    await first;
    expect([told, runs.length]).toEqual([['first'], 2]);
    runs[1]?.resolve();
    await Promise.all(later);
    expect([told, runs.length]).toEqual([['first', 'second', 'third'], 2]);
  });

  it('fails only the requests of the failed run', async () => {
    let fails = true;
    const sync = new FileSystemSync(async () => {
      if (fails) throw new Error('no space left');
    });
    await expect(Promise.all([sync.done(), sync.done()])).rejects.toThrow('no space left');
    fails = false;
    await sync.done();
  });
});
