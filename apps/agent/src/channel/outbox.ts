import { PROTOCOL_LIMITS, type EventReport } from '@svc/protocol';

export interface OutboxLimits {
  messages: number;
  sizeBytes: number;
}

export type NumberedEvent = EventReport & { seq: number };

interface Entry {
  event: NumberedEvent;
  sizeBytes: number;
}

export interface Dropped {
  count: number;
  fromSeq: number;
  toSeq: number;
  at: string;
}

export interface Added {
  event: NumberedEvent;
  /** Sequence of the waiting event that this one replaced. */
  replaced: number | null;
}

const DEFAULT_LIMITS: OutboxLimits = {
  messages: PROTOCOL_LIMITS.outboxMessages,
  sizeBytes: PROTOCOL_LIMITS.outboxSizeBytes,
};

/**
 * Events in order, kept until the platform acknowledges them. An event is sent only after `stored` confirms that it is
 * on disk. At the limit, the oldest events are dropped and replaced by one `events_dropped` with their count and range.
 * An unsent event is replaced by a later one of the same type, object and reason.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  /** By sequence; insertion order is sequence order. */
  readonly #entries = new Map<number, Entry>();
  /** Unsent events by type and object, for coalescing. */
  readonly #unsent = new Map<string, number>();
  readonly #changed: () => void;
  #id = '';
  #nextSeq = 1;
  #sentSeq = 0;
  /** Newest sequence sent over this connection, or stored by its platform before. */
  #givenSeq = 0;
  #storedSeq = 0;
  #sizeBytes = 0;
  #dropped: Dropped | null = null;

  constructor(changed: () => void = () => undefined, limits: OutboxLimits = DEFAULT_LIMITS) {
    this.#changed = changed;
    this.#limits = limits;
  }

  /** Sequences are relative to this id, also across process restarts; empty before `begin`. */
  get id(): string {
    return this.#id;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  get dropped(): Dropped | null {
    return this.#dropped;
  }

  *events(): Generator<NumberedEvent> {
    for (const { event } of this.#entries.values()) yield event;
  }

  get length(): number {
    return this.#entries.size + (this.#dropped === null ? 0 : 1);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Sequences of the oldest and newest event kept; null if there is none. */
  get range(): { first: number; last: number } | null {
    if (this.length === 0) return null;
    const oldest = this.#entries.keys().next().value ?? this.#nextSeq;
    return { first: Math.min(this.#dropped?.fromSeq ?? oldest, oldest), last: this.#nextSeq - 1 };
  }

  /** Starts an empty outbox, or the one left by an earlier process. */
  begin(id: string, nextSeq: number, dropped: Dropped | null): void {
    this.#id = id;
    this.#nextSeq = nextSeq;
    this.#dropped = dropped;
  }

  add(event: Omit<EventReport, 'seq'>): Added {
    const key = keyOf(event);
    const earlier = this.#unsent.get(key);
    const replaced = earlier !== undefined && earlier > this.#sentSeq ? earlier : null;
    if (replaced !== null) this.remove(replaced);
    const numbered = { ...event, seq: this.#nextSeq };
    this.restore(numbered);
    return { event: numbered, replaced };
  }

  /** Restores an event that already has its sequence. */
  restore(event: NumberedEvent): void {
    const sizeBytes = Buffer.byteLength(JSON.stringify(event));
    this.#entries.set(event.seq, { event, sizeBytes });
    this.#unsent.set(keyOf(event), event.seq);
    this.#nextSeq = Math.max(this.#nextSeq, event.seq + 1);
    this.#sizeBytes += sizeBytes;
    this.#enforce(event.occurred_at ?? '');
    this.#changed();
  }

  /** Everything up to this sequence is on disk and may be sent. */
  stored(seq: number): void {
    this.#storedSeq = Math.max(this.#storedSeq, seq);
  }

  /** Newest sequence that the platform can know of. */
  get givenSeq(): number {
    return this.#givenSeq;
  }

  /** The next event that is on disk and not yet sent over this connection; null if there is none. */
  next(): EventReport | null {
    const event = this.#next();
    this.#givenSeq = Math.max(this.#givenSeq, event?.seq ?? 0);
    return event;
  }

  #next(): EventReport | null {
    const { toSeq = 0 } = this.#dropped ?? {};
    if (this.#dropped !== null && toSeq > this.#sentSeq)
      return toSeq > this.#storedSeq ? null : createMarker(this.#dropped);
    for (const [seq, { event }] of this.#entries) {
      if (seq > this.#storedSeq) return null;
      if (seq > this.#sentSeq) return event;
    }
    return null;
  }

  markSent(event: EventReport): void {
    this.#sentSeq = Math.max(this.#sentSeq, event.seq ?? 0);
    this.#unsent.delete(keyOf(event));
  }

  /**
   * Resends everything unacknowledged over a new connection. Returns true if the platform has sequences beyond ours
   * (our folder is an older copy): waiting events are then renumbered after them.
   */
  rewind(receivedSeq: number): boolean {
    const behind = receivedSeq >= this.#nextSeq;
    if (behind) this.#renumber(receivedSeq + 1);
    this.acknowledge(receivedSeq);
    this.#sentSeq = receivedSeq;
    this.#givenSeq = receivedSeq;
    return behind;
  }

  /** The platform has stored everything up to this sequence. */
  acknowledge(seq: number): void {
    for (const known of this.#entries.keys()) {
      if (known > seq) break;
      this.remove(known);
    }
    if (this.#dropped !== null && this.#dropped.toSeq <= seq) this.#dropped = null;
    this.#changed();
  }

  #enforce(at: string): void {
    while (this.#entries.size > this.#limits.messages || this.#sizeBytes > this.#limits.sizeBytes) {
      const oldest = this.#entries.keys().next();
      if (oldest.done) return;
      this.remove(oldest.value);
      this.#dropped = {
        count: (this.#dropped?.count ?? 0) + 1,
        fromSeq: this.#dropped?.fromSeq ?? oldest.value,
        toSeq: oldest.value,
        at,
      };
    }
  }

  #renumber(fromSeq: number): void {
    const waiting = [...this.events()];
    const dropped = this.#dropped;
    this.#entries.clear();
    this.#unsent.clear();
    this.#sizeBytes = 0;
    this.#nextSeq = fromSeq;
    if (dropped !== null) {
      this.#dropped = { ...dropped, fromSeq, toSeq: fromSeq };
      this.#nextSeq += 1;
    }
    this.#storedSeq = fromSeq - 1;
    for (const event of waiting) this.restore({ ...event, seq: this.#nextSeq });
  }

  remove(seq: number): void {
    const entry = this.#entries.get(seq);
    if (entry === undefined) return;
    this.#entries.delete(seq);
    this.#sizeBytes -= entry.sizeBytes;
    const key = keyOf(entry.event);
    if (this.#unsent.get(key) === seq) this.#unsent.delete(key);
  }
}

/** The reason is part of the key, so two different warnings about one pod stay separate. */
function keyOf({ event_type: type, namespace, resource, details }: Omit<EventReport, 'seq'>): string {
  const reason = details['reason'];
  return `${type} ${namespace}/${resource} ${typeof reason === 'string' ? reason : ''}`;
}

function createMarker(dropped: Dropped): EventReport {
  return {
    event_type: 'events_dropped',
    namespace: '',
    resource: 'agent',
    details: { count: String(dropped.count), from_seq: String(dropped.fromSeq), to_seq: String(dropped.toSeq) },
    seq: dropped.toSeq,
    ...(dropped.at === '' ? {} : { occurred_at: dropped.at }),
  };
}
