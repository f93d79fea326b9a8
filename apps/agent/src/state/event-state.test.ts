import { copyFile, mkdir, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventReport } from '@svc/protocol';
import { createLogger } from '@svc/telemetry';
import { fakeClock, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outbox } from '../channel/outbox.ts';
import { openEventState, type EventState } from './event-state.ts';

const clock = fakeClock();
const log = createLogger({ level: 'silent', name: 'test' });

function event(resource: string, type = 'pod_ready'): EventReport {
  return { event_type: type, namespace: 'default', resource, details: {} };
}

function waiting({ outbox }: EventState): string[] {
  return [...outbox.events()].map(({ resource }) => resource);
}

describe('event state', () => {
  let folder: TemporaryFolder;
  let opened: EventState[];
  beforeEach(async () => {
    folder = await temporaryFolder();
    opened = [];
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
    await folder.remove();
  });

  async function open(path = folder.path, limits?: ConstructorParameters<typeof Outbox>[1]): Promise<EventState> {
    const state = await openEventState({ folder: path, clock, log, ...(limits === undefined ? {} : { limits }) });
    opened.push(state);
    return state;
  }

  it('hands out an event only once it is on disk', async () => {
    const state = await open();
    let ready = 0;
    state.onStored = () => (ready += 1);
    state.report(event('a'));
    expect(state.outbox.next()).toBeNull();
    await state.settled();
    expect(state.outbox.next()).toMatchObject({ seq: 1, resource: 'a' });
    expect(ready).toBe(1);
    expect(await readFile(join(folder.path, 'events.jsonl'), 'utf8')).toContain('"resource":"a"');
  });

  it('survives a kill: events, their numbers, kept objects and watch positions', async () => {
    const killed = await open();
    killed.place('pods');
    killed.reached('pods', '10');
    killed.observe('pods', { key: 'u1', version: '11', kept: { ready: true }, events: [event('a')] });
    killed.observe('pods', { key: 'u2', version: '12', kept: { ready: false }, events: [event('b'), event('b')] });
    killed.observe('pods', { key: 'u1', version: '13', kept: null, events: [event('a', 'pod_deleted')] });
    killed.report(event('agent'));
    killed.acknowledge(1);
    await killed.settled();
    const state = await open();
    expect(state.outbox.id).toBe(killed.outbox.id);
    expect(waiting(state)).toEqual(['b', 'a', 'agent']);
    expect(state.outbox.nextSeq).toBe(6);
    const { version, kept } = state.place('pods');
    expect(version).toBe('13');
    expect([...kept]).toEqual([['u2', { ready: false }]]);
    expect(state.outbox.next()).toMatchObject({ seq: 3, resource: 'b' });
  });

  it('keeps each observation completely or not at all, wherever the file is cut', async () => {
    const state = await open();
    state.place('pods');
    state.reached('pods', '0');
    await state.settled();
    const { size: begun } = await stat(join(folder.path, 'events.jsonl')); // created whole, by a rename
    for (const name of ['a', 'b', 'c']) {
      state.observe('pods', { key: name, version: '1', kept: { name }, events: [event(name)] });
      await state.settled();
    }
    const { size } = await stat(join(folder.path, 'events.jsonl'));
    const seen = new Set<number>();
    for (let end = begun; end <= size; end += 7) {
      const copy = join(folder.path, `cut-${end}`);
      await mkdir(copy);
      await copyFile(join(folder.path, 'events.jsonl'), join(copy, 'events.jsonl'));
      await truncate(join(copy, 'events.jsonl'), end);
      const cut = await open(copy);
      const keys = [...cut.place('pods').kept].map(([key]) => key);
      expect(waiting(cut)).toEqual(keys);
      seen.add(keys.length);
    }
    expect([...seen].slice(0, 3)).toEqual([0, 1, 2]);
  });

  it('writes nothing for an unchanged object', async () => {
    const state = await open();
    state.place('pods');
    state.observe('pods', { key: 'u1', version: '1', kept: { ready: true }, events: [] });
    await state.settled();
    const { size } = await stat(join(folder.path, 'events.jsonl'));
    state.observe('pods', { key: 'u1', version: '2', kept: { ready: true }, events: [] });
    await state.settled();
    expect((await stat(join(folder.path, 'events.jsonl'))).size).toBe(size);
    state.observe('pods', { key: 'u1', version: '3', kept: { ready: false }, events: [] });
    await state.settled();
    expect((await open()).place('pods').version).toBe('3');
  });

  it('reports after a restart what was dropped before it', async () => {
    const limits = { messages: 2, sizeBytes: 1_000_000 };
    const full = await open(folder.path, limits);
    for (const name of ['a', 'b', 'c', 'd']) full.report(event(name));
    await full.settled();
    const state = await open(folder.path, limits);
    const marker = { event_type: 'events_dropped', seq: 2, details: { count: '2', from_seq: '1', to_seq: '2' } };
    expect(state.outbox.next()).toMatchObject(marker);
    state.report(event('e'));
    await state.settled();
    const again = await open(folder.path, limits);
    expect(again.outbox.next()).toMatchObject({ details: { count: '3', from_seq: '1', to_seq: '3' } });
    expect(waiting(again)).toEqual(['d', 'e']);
  });

  it('stays small however many events pass, and forgets kinds that are no longer watched', async () => {
    const state = await open();
    state.place('pods');
    state.observe('gone', { key: 'u9', version: '1', kept: {}, events: [] });
    for (let index = 0; index < 12_000; index += 1) {
      const kept = { index, padding: 'x'.repeat(100) };
      state.observe('pods', { key: 'u1', version: String(index), kept, events: [event(`pod-${index}`)] });
      state.acknowledge(index + 1);
      if (index % 100 === 0) await state.settled();
    }
    await state.settled();
    expect((await stat(join(folder.path, 'events.jsonl'))).size).toBeLessThan(1_100_000);
    const again = await open();
    expect(again.outbox.range).toBeNull();
    expect([...again.place<{ index: number }>('pods').kept]).toMatchObject([['u1', { index: 11_999 }]]);
    expect([...again.place('gone').kept]).toEqual([]);
  });

  it('keeps events in memory while the disk fails, and sends them once it recovers', async () => {
    const state = await open();
    state.report(event('a'));
    await state.settled();
    const aside = `${folder.path}-aside`;
    await rename(folder.path, aside);
    const before = state.outbox.nextSeq;
    state.rewind(before + 5); // needs a new file, which cannot be created now
    state.report(event('b'));
    await waitFor(() => clock.pendingTimers() > 0);
    expect(state.outbox.next()).toBeNull();
    await rename(aside, folder.path);
    await clock.advance(1000);
    await waitFor(() => state.outbox.next());
    expect(waiting(state)).toEqual(['a', 'b']);
    await rm(aside, { recursive: true, force: true });
  });

  it("continues numbering after the platform's last number if its folder is an older copy", async () => {
    const state = await open();
    state.report(event('a'));
    state.report(event('b'));
    await state.settled();
    state.rewind(40);
    await state.settled();
    expect(state.outbox.next()).toMatchObject({ seq: 41, resource: 'a' });
    const again = await open();
    expect([...again.outbox.events()].map(({ seq }) => seq)).toEqual([41, 42]);
    expect(again.outbox.nextSeq).toBe(43);
  });
});
