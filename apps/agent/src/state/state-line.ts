import type { Dropped, NumberedEvent, Outbox } from '../channel/outbox.ts';

/** One atomic step: an incomplete line counts as none. */
export interface StateLine {
  /** First line of a file. */
  outbox?: { id: string; next_seq: number; dropped: Dropped | null };
  events?: readonly NumberedEvent[];
  /** Sequences of the waiting events that these replaced. */
  replaced?: readonly number[];
  acknowledged?: number;
  kind?: string;
  /** The kind was observed up to here; see `ReflectorPlace`. */
  version?: string;
  key?: string;
  /** State kept of the object; null = it is gone. */
  kept?: unknown;
}

/** Known objects of one kind. */
export interface KnownKind {
  version: string | null;
  readonly kept: Map<string, unknown>;
}

export type KnownKinds = Map<string, KnownKind>;

export function findOrCreateKind(kinds: KnownKinds, name: string): KnownKind {
  const known = kinds.get(name) ?? { version: null, kept: new Map<string, unknown>() };
  kinds.set(name, known);
  return known;
}

/** Replays the step of one line. */
export function replay(line: StateLine, outbox: Outbox, kinds: KnownKinds): void {
  if (line.outbox !== undefined) outbox.begin(line.outbox.id, line.outbox.next_seq, line.outbox.dropped);
  for (const seq of line.replaced ?? []) outbox.remove(seq);
  for (const event of line.events ?? []) outbox.restore(event);
  if (line.acknowledged !== undefined) outbox.acknowledge(line.acknowledged);
  if (line.kind === undefined) return;
  const kind = findOrCreateKind(kinds, line.kind);
  if (line.version !== undefined) kind.version = line.version;
  if (line.key === undefined) return;
  if (line.kept === null || line.kept === undefined) kind.kept.delete(line.key);
  else kind.kept.set(line.key, line.kept);
}

/** The fewest lines that reproduce the state. */
export function* snapshot(outbox: Outbox, kinds: ReadonlyMap<string, KnownKind>): Generator<StateLine> {
  yield { outbox: { id: outbox.id, next_seq: outbox.nextSeq, dropped: outbox.dropped } };
  for (const event of outbox.events()) yield { events: [event] };
  for (const [kind, { version, kept }] of kinds) {
    for (const [key, each] of kept) yield { kind, key, kept: each };
    if (version !== null) yield { kind, version };
  }
}
