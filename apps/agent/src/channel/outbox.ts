import { PROTOCOL_LIMITS, type EventReport } from '@svc/protocol';

export interface OutboxLimits {
  messages: number;
  sizeBytes: number;
}

interface Entry {
  event: EventReport & { seq: number };
  sizeBytes: number;
}

interface Dropped {
  count: number;
  fromSeq: number;
  toSeq: number;
  at: string;
}

const DEFAULT_LIMITS: OutboxLimits = {
  messages: PROTOCOL_LIMITS.outboxMessages,
  sizeBytes: PROTOCOL_LIMITS.outboxSizeBytes,
};

/**
 * Events in the order they happened, kept until the platform acknowledged them. When the bound is reached the oldest
 * go, and one `events_dropped` with their count and range takes their place. While nothing was sent of it, an event
 * replaces an earlier one of the same type, object and reason.
 */
export class Outbox {
  readonly #limits: OutboxLimits;
  /** By number; insertion order is number order. */
  readonly #entries = new Map<number, Entry>();
  /** Unsent events by type and object, for coalescing. */
  readonly #unsent = new Map<string, number>();
  readonly #changed: () => void;
  #nextSeq = 1;
  #sentSeq = 0;
  #sizeBytes = 0;
  #dropped: Dropped | null = null;

  constructor(changed: () => void = () => undefined, limits: OutboxLimits = DEFAULT_LIMITS) {
    this.#changed = changed;
    this.#limits = limits;
  }

  get length(): number {
    return this.#entries.size + (this.#dropped === null ? 0 : 1);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Numbers of the oldest and newest event kept; null when there is none. */
  get range(): { first: number; last: number } | null {
    if (this.length === 0) return null;
    const oldest = this.#entries.keys().next().value ?? this.#nextSeq;
    return { first: Math.min(this.#dropped?.fromSeq ?? oldest, oldest), last: this.#nextSeq - 1 };
  }

  add(event: Omit<EventReport, 'seq'>): void {
    const key = keyOf(event);
    const earlier = this.#unsent.get(key);
    if (earlier !== undefined && earlier > this.#sentSeq) this.#remove(earlier);
    const seq = this.#nextSeq++;
    const numbered = { ...event, seq };
    const sizeBytes = Buffer.byteLength(JSON.stringify(numbered));
    this.#entries.set(seq, { event: numbered, sizeBytes });
    this.#unsent.set(key, seq);
    this.#sizeBytes += sizeBytes;
    this.#enforce(event.occurred_at ?? '');
    this.#changed();
  }

  /** The next event that this connection has not sent; null when there is none. */
  next(): EventReport | null {
    if (this.#dropped !== null && this.#dropped.toSeq > this.#sentSeq) return markerOf(this.#dropped);
    for (const [seq, { event }] of this.#entries) if (seq > this.#sentSeq) return event;
    return null;
  }

  markSent(event: EventReport): void {
    this.#sentSeq = Math.max(this.#sentSeq, event.seq ?? 0);
    this.#unsent.delete(keyOf(event));
  }

  /** A new connection: everything that is not acknowledged goes again. */
  rewind(receivedSeq: number): void {
    this.acknowledge(receivedSeq);
    this.#sentSeq = Math.min(receivedSeq, this.#nextSeq - 1);
  }

  /** The platform stored everything up to this number. */
  acknowledge(seq: number): void {
    for (const known of this.#entries.keys()) {
      if (known > seq) break;
      this.#remove(known);
    }
    if (this.#dropped !== null && this.#dropped.toSeq <= seq) this.#dropped = null;
    this.#changed();
  }

  #enforce(at: string): void {
    while (this.#entries.size > this.#limits.messages || this.#sizeBytes > this.#limits.sizeBytes) {
      const oldest = this.#entries.keys().next();
      if (oldest.done) return;
      this.#remove(oldest.value);
      this.#dropped = {
        count: (this.#dropped?.count ?? 0) + 1,
        fromSeq: this.#dropped?.fromSeq ?? oldest.value,
        toSeq: oldest.value,
        at,
      };
    }
  }

  #remove(seq: number): void {
    const entry = this.#entries.get(seq);
    if (entry === undefined) return;
    this.#entries.delete(seq);
    this.#sizeBytes -= entry.sizeBytes;
    const key = keyOf(entry.event);
    if (this.#unsent.get(key) === seq) this.#unsent.delete(key);
  }
}

/** Two warnings about one pod are two: the reason belongs to the key. */
function keyOf({ event_type: type, namespace, resource, details }: Omit<EventReport, 'seq'>): string {
  const reason = details['reason'];
  return `${type} ${namespace}/${resource} ${typeof reason === 'string' ? reason : ''}`;
}

function markerOf(dropped: Dropped): EventReport {
  return {
    event_type: 'events_dropped',
    namespace: '',
    resource: 'agent',
    details: { count: String(dropped.count), from_seq: String(dropped.fromSeq), to_seq: String(dropped.toSeq) },
    seq: dropped.toSeq,
    ...(dropped.at === '' ? {} : { occurred_at: dropped.at }),
  };
}
