import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesStatusError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import { compareVersions, Reflector, type ReflectorPlace } from './reflector.ts';
import type { ListPage } from './list.ts';
import type { WatchEvent } from './watch.ts';

function object(name: string, uid: string, version = '1'): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, uid, resourceVersion: version } };
}

/** A fake API server whose lists and watch the test controls. */
class PlayedServer {
  lists: KubeObject[][] = [];
  versions: string[] = [];
  #feed: ((event: WatchEvent | Error | null) => void) | null = null;

  async *list(): AsyncGenerator<ListPage> {
    const items = this.lists.shift() ?? [];
    const half = Math.ceil(items.length / 2);
    yield { items: items.slice(0, half), resourceVersion: '10' };
    yield { items: items.slice(half), resourceVersion: '10' };
  }

  async *watch(_kind: unknown, { resourceVersion }: { resourceVersion: string }): AsyncGenerator<WatchEvent> {
    this.versions.push(resourceVersion);
    const events: (WatchEvent | Error | null)[] = [];
    let wake = (): void => undefined;
    this.#feed = (event) => {
      events.push(event);
      wake();
    };
    for (;;) {
      const event = events.shift();
      if (event === null) return;
      if (event instanceof Error) throw event;
      if (event !== undefined) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  end(): void {
    this.#feed?.(null);
  }

  async say(event: WatchEvent | Error | null): Promise<void> {
    const count = this.versions.length;
    (await waitFor(() => this.#feed))(event);
    if (event === null || event instanceof Error) {
      this.#feed = null;
      await waitFor(() => this.versions.length > count);
    }
  }
}

describe('the reflector', () => {
  let server: PlayedServer;
  let told: string[];
  let errors: unknown[];
  let abort: AbortController;
  let reached: string[];
  let pauses: number[];
  let reflector: Reflector<string>;
  beforeEach(() => {
    server = new PlayedServer();
    told = [];
    errors = [];
    reached = [];
    pauses = [];
    abort = new AbortController();
    reflector = reflect();
    server.lists = [[object('a', '1'), object('b', '2')]];
    void reflector.run(abort.signal);
  });
  afterEach(() => {
    abort.abort();
    server.end();
  });

  function reflect(from?: ReflectorPlace<string>, maxObjects = Infinity): Reflector<string> {
    return new Reflector<string>({
      client: server,
      kind: { apiVersion: 'v1', kind: 'Pod' },
      ...(from === undefined ? {} : { from }),
      maxObjects,
      follower: {
        seen: ({ metadata }, before, { initial }) => {
          told.push(`${before === null ? 'new' : 'changed'} ${metadata.name}${initial ? ' initial' : ''}`);
          return metadata.name;
        },
        gone: (name) => told.push(`gone ${name}`),
        reached: (version) => reached.push(version),
        synced: () => told.push('synced'),
      },
      random: () => 0.5,
      pause: (delayMs) => {
        pauses.push(delayMs);
        return Promise.resolve();
      },
      onError: (error) => errors.push(error),
    });
  }

  /** Starts the reflector of a second process, which has the first one's state. */
  async function restart(version: string | null, listed: KubeObject[]): Promise<void> {
    const watches = await waitFor(() => server.versions.length || undefined);
    abort.abort();
    server.end();
    abort = new AbortController();
    told.length = 0;
    server.lists = [listed, listed];
    void reflect({
      version,
      kept: [
        ['1', 'a'],
        ['2', 'b'],
      ],
    }).run(abort.signal);
    await waitFor(() => server.versions.length > watches);
  }

  it('reports existing objects as initial, then every change once', async () => {
    await server.say({ type: 'ADDED', object: object('c', '3', '11') });
    await server.say({ type: 'MODIFIED', object: object('a', '1', '12') });
    await server.say({ type: 'DELETED', object: object('b', '2', '13') });
    await waitFor(() => told.length === 6);
    expect(told).toEqual(['new a initial', 'new b initial', 'synced', 'new c', 'changed a', 'gone b']);
    expect(reflector.size).toBe(2);
  });

  it.each(['in a watch', 'in a list'])(
    'keeps no more objects than it may of an untrusted cluster, %s',
    async (place) => {
      const watches = await waitFor(() => server.versions.length || undefined);
      abort.abort();
      server.end();
      abort = new AbortController();
      const listed = [object('a', '1'), object('b', '2'), object('c', '3')];
      server.lists = place === 'in a list' ? [listed] : [listed.slice(0, 2)];
      const bounded = reflect(undefined, 2);
      void bounded.run(abort.signal);
      if (place === 'in a watch') {
        await waitFor(() => server.versions.length > watches);
        await server.say({ type: 'ADDED', object: object('c', '3', '11') });
      }
      await waitFor(() => errors.length === 1);
      expect(String(errors[0])).toContain('more than 2 objects');
      expect(bounded.size).toBeLessThanOrEqual(2);
    },
  );

  it.each([
    ['long name', undefined],
    ['long uid', 'u'.repeat(2000)],
    ['uid that is not a string', { uid: 1 }],
  ])('keeps no object with a %s', async (_what, uid) => {
    const named = object('c', '3', '11');
    const name = uid === undefined ? 'n'.repeat(2000) : 'c';
    await server.say({
      type: 'ADDED',
      object: { ...named, metadata: { ...named.metadata, name, uid: uid as string } },
    });
    await waitFor(() => errors.length > 0);
    expect(String(errors[0])).toContain('without a valid name');
    expect(reflector.size).toBe(2);
  });

  it('resumes from the last version it saw, including that of a bookmark', async () => {
    await server.say({ type: 'MODIFIED', object: object('a', '1', '12') });
    await server.say({ type: 'BOOKMARK', resourceVersion: '40' });
    await server.say(null);
    expect(server.versions).toEqual(['10', '40']);
  });

  it('repeats nothing after an expired version, and finds deleted and recreated objects', async () => {
    await waitFor(() => told.includes('synced'));
    told.length = 0;
    server.lists = [[object('b', '2'), object('a', '99'), object('d', '4')]];
    await server.say(new KubernetesStatusError({ status: 410, reason: 'Expired', message: 'too old' }));
    expect(told.toSorted()).toEqual(['changed b', 'gone a', 'new a', 'new d']);
    expect(errors).toEqual([]);
  });

  it('retries after any other failure from where it was', async () => {
    await server.say({ type: 'MODIFIED', object: object('a', '1', '12') });
    await server.say(new Error('cut'));
    expect(server.versions).toEqual(['10', '12']);
    expect(errors).toHaveLength(1);
  });

  it('resumes from an earlier process’s state without a new list', async () => {
    await restart('7', [object('a', '1'), object('c', '3')]);
    expect(server.versions).toEqual(['10', '7']);
    await server.say({ type: 'ADDED', object: object('c', '3', '8') });
    await server.say({ type: 'DELETED', object: object('b', '2', '9') });
    await waitFor(() => told.length === 3);
    expect(told).toEqual(['synced', 'new c', 'gone b']);
  });

  it('compares with a list if the server is behind the earlier process or its version has expired', async () => {
    await restart('11', [object('a', '1'), object('c', '3')]);
    expect(server.versions).toEqual(['10', '10']);
    expect(told).toEqual(['changed a', 'new c', 'gone b', 'synced']);
    await restart('', [object('a', '1')]);
    expect(told).toEqual(['changed a', 'gone b', 'synced']);
  });

  it('reports how far it has seen, and when that version expired', async () => {
    await server.say({ type: 'BOOKMARK', resourceVersion: '40' });
    await server.say(new KubernetesStatusError({ status: 410, reason: 'Expired', message: 'too old' }));
    await waitFor(() => reached.length === 4);
    expect(reached).toEqual(['10', '40', '', '10']);
  });

  it('pauses with backoff before it lists again if every version expires at once', async () => {
    const expired = new KubernetesStatusError({ status: 410, reason: 'Expired', message: 'too old' });
    for (let round = 0; round < 4; round += 1) await server.say(expired);
    expect(pauses).toEqual([375, 750, 1500]);
    await server.say({ type: 'BOOKMARK', resourceVersion: '40' });
    await server.say(expired);
    expect(pauses).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  it('pauses before it watches again if every watch ends at once', async () => {
    for (let round = 0; round < 9; round += 1) await server.say(null);
    expect(pauses).toEqual([375, 750, 1500, 3000, 6000, 12_000, 22_500, 22_500]);
    await server.say({ type: 'BOOKMARK', resourceVersion: '40' });
    await server.say(null);
    expect(pauses).toHaveLength(8);
  });
});

it.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['007', '7', 0],
  ['18446744073709551615', '18446744073709551614', 1],
  ['', '1', undefined],
  ['a', '1', undefined],
  ['1', '-1', undefined],
])('compares versions %j and %j', (one, other, expected) => {
  expect(compareVersions(one, other)).toBe(expected);
});

it('does not read numbers that no API server counts to', () => {
  const long = '9'.repeat(8 * 1024 * 1024);
  expect(compareVersions(long, '1')).toBeUndefined();
  expect(compareVersions('1', long)).toBeUndefined();
});
