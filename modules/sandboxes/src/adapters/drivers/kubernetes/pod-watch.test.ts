import type { KubeObject, WatchEvent } from '@svc/kube';
import { systemClock, systemRandom } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { PodWatch } from './pod-watch.ts';

function pod(name: string, uid: string, version: number, state = 'stopped'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid,
      resourceVersion: String(version),
      labels: { 'svc.dev/sandbox': `sbx_${name}` },
      annotations: { 'svc.dev/sandbox-state': state },
    },
  };
}

describe('PodWatch', () => {
  const events: ((event: WatchEvent) => void)[] = [];
  const opened: PodWatch[] = [];
  afterEach(async () => {
    for (const watch of opened.splice(0)) await watch.close();
    events.length = 0;
  });

  /** A watch of an API server that lists these pods and then reports what the test emits. */
  async function open(...listed: KubeObject[]): Promise<PodWatch> {
    const queue: WatchEvent[] = [];
    let wake = Promise.withResolvers<void>();
    events.push((event) => {
      queue.push(event);
      wake.resolve();
    });
    const watch = new PodWatch({
      client: {
        list: async function* list() {
          yield { items: listed, resourceVersion: '10' };
        },
        watch: async function* watching(_kind, { signal }) {
          const ended = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
          const isOpen = (): boolean => signal?.aborted === false;
          while (isOpen()) {
            yield* queue.splice(0);
            wake = Promise.withResolvers();
            if (queue.length === 0) await Promise.race([wake.promise, ended]);
          }
        },
      },
      namespace: 'sandboxes',
      owner: 'owner',
      clock: systemClock,
      random: systemRandom,
      log: createLogger({ level: 'error', name: 'test' }),
    });
    opened.push(watch);
    await watch.open(AbortSignal.timeout(5000));
    return watch;
  }
  const emit = (type: 'MODIFIED' | 'DELETED', object: KubeObject): void => events.at(-1)?.({ type, object });
  const reach = (version: number): void => events.at(-1)?.({ type: 'BOOKMARK', resourceVersion: String(version) });
  const signal = (): AbortSignal => AbortSignal.timeout(5000);

  it('knows all pods once it is open', async () => {
    const watch = await open(pod('a', 'u1', 3), pod('b', 'u2', 4));
    expect([...watch.values()].map(({ sandboxId }) => sandboxId)).toEqual(['sbx_a', 'sbx_b']);
  });

  it('takes no time for a version that no API server counts to', async () => {
    const watch = await open(pod('a', 'u1', 3));
    const changed = watch.until('a', (each) => each?.started === true, signal());
    const object = pod('a', 'u1', 4, 'running');
    emit('MODIFIED', { ...object, metadata: { ...object.metadata, resourceVersion: '9'.repeat(8 * 1024 * 1024) } });
    emit('MODIFIED', { ...object, metadata: { ...object.metadata, resourceVersion: '9'.repeat(8 * 1024 * 1024) } });
    expect((await changed)?.version.length).toBeLessThan(300);
  });

  it('keeps one pod under one name, whatever the cluster calls it', async () => {
    const watch = await open(pod('a', 'u1', 3), pod('b', 'u1', 4));
    for (let count = 0; count < 50; count += 1) emit('MODIFIED', pod(`name-${count}`, 'u1', 20 + count));
    const later = watch.until('c', (each) => each !== null, signal());
    emit('MODIFIED', pod('c', 'u2', 100));
    await later;
    expect([...watch.values()].map(({ name }) => name)).toEqual(['c']);
  });

  it('waits for a change, and for a deletion', async () => {
    const watch = await open(pod('a', 'u1', 3));
    const started = watch.until('a', (each) => each?.started === true, signal());
    emit('MODIFIED', pod('a', 'u1', 11, 'running'));
    expect(await started).toMatchObject({ version: '11' });
    const gone = watch.until('a', (each) => each === null, signal());
    emit('DELETED', pod('a', 'u1', 12));
    expect(await gone).toBeNull();
    expect([...watch.values()]).toEqual([]);
  });

  it('keeps the state of a response until the watch is as far', async () => {
    const watch = await open(pod('a', 'u1', 3));
    watch.note(pod('a', 'u1', 15, 'running'));
    const seen = watch.until('b', (each) => each !== null, signal());
    emit('MODIFIED', pod('a', 'u1', 11)); // sent before the change
    emit('MODIFIED', pod('b', 'u2', 12));
    await seen;
    expect(watch.find('a')).toMatchObject({ version: '15', started: true });
  });

  it('ignores a late response about a deleted pod, and the end of an earlier pod with the same name', async () => {
    const watch = await open(pod('a', 'u1', 3));
    const gone = watch.until('a', (each) => each === null, signal());
    emit('DELETED', pod('a', 'u1', 12));
    await gone;
    watch.note(pod('a', 'u1', 11));
    expect(watch.find('a')).toBeNull();
    watch.note(pod('a', 'u2', 20));
    const seen = watch.until('b', (each) => each !== null, signal());
    emit('DELETED', pod('a', 'u1', 12));
    emit('MODIFIED', pod('b', 'u3', 21));
    await seen;
    expect(watch.find('a')).toMatchObject({ uid: 'u2' });
  });

  it('forgets a pod of a response that the watch never reports', async () => {
    const watch = await open();
    watch.note(pod('missed', 'u1', 12)); // deleted while the watch was interrupted
    watch.note(pod('recent', 'u2', 14));
    watch.note(pod('seen', 'u3', 11));
    emit('MODIFIED', pod('seen', 'u3', 12));
    const gone = watch.until('missed', (each) => each === null, signal());
    reach(13);
    expect(await gone).toBeNull();
    expect([...watch.values()].map(({ name }) => name)).toEqual(['recent', 'seen']);
  });

  it('throws the reason of the signal', async () => {
    const watch = await open();
    const reason = new Error('left');
    await expect(watch.until('a', (each) => each !== null, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
