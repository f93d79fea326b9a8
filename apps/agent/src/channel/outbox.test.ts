import type { EventReport } from '@svc/protocol';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Outbox } from './outbox.ts';

function event(resource: string, type = 'pod_ready'): EventReport {
  return { event_type: type, namespace: 'default', resource, details: {} };
}

/** Adds an event that is on disk at once. */
function add(outbox: Outbox, name: string): void {
  outbox.stored(outbox.add(event(name)).event.seq);
}

function drain(outbox: Outbox): EventReport[] {
  const sent: EventReport[] = [];
  for (let next = outbox.next(); next !== null; next = outbox.next()) {
    sent.push(next);
    outbox.markSent(next);
  }
  return sent;
}

describe('the outbox', () => {
  it('numbers events in order and drops acknowledged ones', () => {
    const outbox = new Outbox();
    for (const name of ['a', 'b', 'c']) add(outbox, name);
    expect(drain(outbox).map(({ seq, resource }) => [seq, resource])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(outbox.next()).toBeNull();
    outbox.acknowledge(2);
    expect(outbox.range).toEqual({ first: 3, last: 3 });
    outbox.acknowledge(3);
    expect(outbox.range).toBeNull();
    expect(outbox.sizeBytes).toBe(0);
  });

  it('resends events on a new connection unless the platform has stored them', () => {
    const outbox = new Outbox();
    for (const name of ['a', 'b', 'c']) add(outbox, name);
    drain(outbox);
    outbox.rewind(1);
    expect(drain(outbox).map(({ resource }) => resource)).toEqual(['b', 'c']);
    outbox.rewind(0);
    expect(drain(outbox).map(({ resource }) => resource)).toEqual(['b', 'c']);
  });

  it('replaces an unsent event with a newer one of the same object', () => {
    const outbox = new Outbox();
    add(outbox, 'a');
    add(outbox, 'b');
    add(outbox, 'a');
    expect(drain(outbox).map(({ seq, resource }) => [seq, resource])).toEqual([
      [2, 'b'],
      [3, 'a'],
    ]);
    add(outbox, 'a');
    expect(drain(outbox)).toHaveLength(1);
    expect(outbox.length).toBe(3);
  });

  it('drops the oldest events above its limit, and reports how many and which', () => {
    const outbox = new Outbox(undefined, { messages: 3, sizeBytes: 1_000_000 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(outbox, name);
    const sent = drain(outbox);
    expect(sent.map(({ event_type: type }) => type)).toEqual(['events_dropped', 'pod_ready', 'pod_ready', 'pod_ready']);
    expect(sent[0]).toMatchObject({ seq: 2, details: { count: '2', from_seq: '1', to_seq: '2' } });
    outbox.acknowledge(2);
    expect(outbox.length).toBe(3);
  });

  it('stays within its byte limit', () => {
    const outbox = new Outbox(undefined, { messages: 10_000, sizeBytes: 2000 });
    for (let index = 0; index < 500; index += 1) add(outbox, `pod-${index}`);
    expect(outbox.sizeBytes).toBeLessThanOrEqual(2000);
  });

  it('never loses an event that was not acknowledged, replaced or counted as dropped', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), name: fc.nat(5) }),
      fc.record({ kind: fc.constant('send' as const), count: fc.nat(5) }),
      fc.record({ kind: fc.constant('acknowledge' as const) }),
      fc.record({ kind: fc.constant('reconnect' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outbox = new Outbox(undefined, { messages: 8, sizeBytes: 1_000_000 });
        const newest = new Map<string, number>();
        const stored = new Map<string, number>();
        let added = 0;
        let storedSeq = 0;
        let dropped = 0;
        const send = (limit: number): void => {
          for (let index = 0; index < limit; index += 1) {
            const next = outbox.next();
            if (next === null) return;
            outbox.markSent(next);
            storedSeq = Math.max(storedSeq, next.seq ?? 0);
            if (next.event_type === 'events_dropped') dropped = Math.max(dropped, Number(next.details['to_seq']));
            else stored.set(next.resource, Math.max(stored.get(next.resource) ?? 0, next.seq ?? 0));
          }
        };
        for (const each of steps) {
          if (each.kind === 'add') {
            add(outbox, `pod-${each.name}`);
            newest.set(`pod-${each.name}`, ++added);
          } else if (each.kind === 'send') send(each.count);
          else if (each.kind === 'acknowledge') outbox.acknowledge(storedSeq);
          else outbox.rewind(storedSeq);
        }
        send(Infinity);
        for (const [name, seq] of newest) expect(Math.max(stored.get(name) ?? 0, dropped)).toBeGreaterThanOrEqual(seq);
        expect(outbox.length).toBeLessThanOrEqual(9);
      }),
    );
  });
});
