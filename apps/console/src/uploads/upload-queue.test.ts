import { describe, expect, it } from 'vitest';
import { UploadQueue, type SendHooks, type UploadTarget } from './upload-queue.ts';

interface Sending {
  key: string;
  hooks: SendHooks;
  end: (error?: Error) => void;
}

function bench(atOnce = 2) {
  const sendings: Sending[] = [];
  const stored: string[] = [];
  const discarded: string[] = [];
  let nowMs = 0;
  const queue = new UploadQueue({
    atOnce,
    now: () => nowMs,
    onStored: ({ key }) => stored.push(key),
    discard: ({ key }) => {
      discarded.push(key);
      return Promise.resolve();
    },
    send: ({ key }, _file, hooks) =>
      new Promise((resolve, reject) => {
        hooks.signal.addEventListener('abort', () => reject(new Error('aborted')));
        sendings.push({ key, hooks, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
  });
  const target = (key: string): UploadTarget => ({ workspaceUuid: 'w', teamUuid: undefined, bucket: 'b', key });
  const add = (...keys: string[]): void =>
    queue.add(keys.map((key) => ({ target: target(key), file: new File(['0123456789'], key) })));
  const states = (): string[] => queue.snapshot().map(({ target: { key }, state }) => `${key} ${state}`);
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  return { queue, sendings, stored, discarded, add, states, settle, pass: (ms: number) => (nowMs += ms) };
}

describe('the upload queue', () => {
  it('sends a bounded number at once, in order, and reports stored files', async () => {
    const { sendings, stored, add, states, settle } = bench();
    add('a', 'b', 'c');
    expect(states()).toEqual(['a sending', 'b sending', 'c waiting']);
    sendings[1]?.end();
    await settle();
    expect(states()).toEqual(['a sending', 'b done', 'c sending']);
    expect(stored).toEqual(['b']);
  });

  it('pauses an upload, starts the next one, and resumes it later', async () => {
    const { queue, sendings, add, states, settle } = bench(1);
    add('a', 'b');
    sendings[0]?.hooks.onProgress(4);
    queue.pause(1);
    await settle();
    expect(states()).toEqual(['a paused', 'b sending']);
    expect(sendings[0]?.hooks.signal.aborted).toBe(true);
    queue.resume(1);
    expect(states()).toEqual(['a waiting', 'b sending']);
    sendings[1]?.end();
    await settle();
    expect(states()).toEqual(['a sending', 'b done']);
    expect(queue.snapshot()[0]?.sentBytes).toBe(4);
  });

  it('ignores progress and completion of a stopped attempt', async () => {
    const { queue, sendings, stored, add, states, settle } = bench(1);
    add('a');
    queue.pause(1);
    queue.resume(1);
    sendings[0]?.hooks.onProgress(9);
    sendings[0]?.end();
    await settle();
    expect(states()).toEqual(['a sending']);
    expect(queue.snapshot()[0]?.sentBytes).toBe(0);
    expect(stored).toEqual([]);
  });

  it('keeps the reason of a failure until a retry', async () => {
    const { queue, sendings, add, settle } = bench();
    add('a');
    sendings[0]?.end(new Error('no room'));
    await settle();
    expect(queue.snapshot()[0]).toMatchObject({ state: 'failed', error: { message: 'no room' } });
    queue.resume(1);
    expect(queue.snapshot()[0]).toMatchObject({ state: 'sending', error: null });
  });

  it('deletes the platform’s data of an upload only when it is removed', async () => {
    const { queue, sendings, discarded, add, settle } = bench(1);
    add('a', 'b', 'c');
    sendings[0]?.hooks.onProgress(4);
    queue.remove(1);
    queue.remove(3);
    await settle();
    sendings[1]?.end();
    await settle();
    queue.remove(2);
    expect(discarded).toEqual(['a']);
    expect(queue.snapshot()).toEqual([]);
  });

  it('measures the speed of the current attempt only', () => {
    const { queue, sendings, add, pass } = bench();
    add('a');
    sendings[0]?.hooks.onProgress(6);
    pass(2_000);
    sendings[0]?.hooks.onProgress(10);
    expect(queue.snapshot()[0]?.bytesPerSecond).toBe(2);
  });
});
