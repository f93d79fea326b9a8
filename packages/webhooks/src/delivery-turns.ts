import { FairSlots, Shares, type Clock } from '@svc/runtime';

/** Receivers served concurrently: of all, of one owner and of one workspace. */
const LANES = 32;
const LANES_OF_OWNER = 24;
const LANES_OF_WORKSPACE = 16;
/** Receivers that are served or wait for a lane. The others are found again by a later call of `admit`. */
const MAX_ADMITTED = 2_048;
/** A receiver gets no further event after this time in a lane, and waits for another turn. */
const PASS_MS = 5_000;
/** Keys, such as sandboxes, whose events one receiver gets concurrently. */
const KEYS_AT_ONCE = 4;
const PAGE = 256;
/** Pause after a receiver fails, doubled each time. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Longer than any event waits for its retry. */
const FORGET_REST_MS = 2 * 3_600_000;

/** A receiver with events to deliver. */
export interface WaitingReceiver {
  readonly id: string;
  readonly workspaceUuid: string;
}

/** What became of an event. `stopped`: it was not sent, or it does not matter any more. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'stopped';

/** The turn of one receiver, which ends after some seconds. */
export interface DeliveryPass {
  readonly isOver: boolean;
  /** Ends the pass at once: the signal that `admit` had. */
  readonly signal: AbortSignal;
  /**
   * Delivers events of each key in order, several keys at once, until one is not delivered or the pass is over. Sends a
   * single event if the receiver failed before, to see whether it is back.
   */
  deliver<Event>(
    events: readonly Event[],
    keyOf: (event: Event) => string,
    deliverOne: (event: Event) => Promise<DeliveryOutcome>,
  ): Promise<DeliveryOutcome>;
}

/** Where the receivers are found, and how one is served. */
export interface DeliveryTurnsOptions<Receiver extends WaitingReceiver> {
  /** Receivers with events, in a fixed order, after the given one. */
  readonly waiting: (after: Receiver | null, limit: number) => Promise<readonly Receiver[]>;
  /** Delivers what is due until the pass is over. */
  readonly serve: (receiver: Receiver, pass: DeliveryPass) => Promise<void>;
  /** The owners of workspaces, who have one turn for all of theirs. `shareOf` knows those that `readLimits` has read. */
  readonly owners: {
    readLimits(workspaceUuid: string): Promise<unknown>;
    shareOf(this: void, workspaceUuid: string): string;
  };
  /** Receives the error of a pass, after which the receiver rests. */
  readonly onError: (error: unknown, receiver: Receiver) => void;
  readonly clock: Pick<Clock, 'nowMs'>;
}

interface Rest {
  readonly untilMs: number;
  readonly lengthMs: number;
}

/**
 * Decides which receivers get their events now. Owners take turns, as do their workspaces and the receivers of a
 * workspace, so that slow receivers delay others by one pass at most. A receiver that fails rests.
 */
export class DeliveryTurns<Receiver extends WaitingReceiver> {
  readonly #options: DeliveryTurnsOptions<Receiver>;
  /** By receiver: served, or waiting for a lane. */
  readonly #admitted = new Map<string, Promise<void>>();
  readonly #shares: Shares;
  readonly #lanes: FairSlots;
  readonly #rests = new Map<string, Rest>();
  /** The receiver that was admitted last: the next call of `admit` begins behind it. */
  #last: Receiver | null = null;

  constructor(options: DeliveryTurnsOptions<Receiver>) {
    this.#options = options;
    const groupOf = options.owners.shareOf;
    this.#shares = new Shares({ capacity: MAX_ADMITTED, groupOf, holders: { key: 'workspace', group: 'owner' } });
    this.#lanes = new FairSlots({
      capacity: LANES,
      capacityPerGroup: LANES_OF_OWNER,
      capacityPerKey: LANES_OF_WORKSPACE,
      maxWaiting: MAX_ADMITTED,
      groupOf,
      refuse: () => new Error('more receivers wait than are admitted'), // the shares prevent it
    });
  }

  /** Admits the receivers that have events, once around, and does not wait for their passes. The signal ends those. */
  async admit(signal: AbortSignal): Promise<void> {
    const start = this.#last;
    const first = await this.#admitBehind(start, null, signal);
    if (start !== null) await this.#admitBehind(null, first, signal);
    const longAgoMs = this.#options.clock.nowMs() - FORGET_REST_MS;
    for (const [id, { untilMs }] of this.#rests) if (untilMs < longAgoMs) this.#rests.delete(id);
  }

  /** Waits for the passes of all that are admitted. */
  async settle(): Promise<void> {
    await Promise.all(this.#admitted.values());
  }

  /** Stops before the receiver `end`. Returns the first one it saw. */
  async #admitBehind(start: Receiver | null, end: string | null, signal: AbortSignal): Promise<string | null> {
    let first: string | null = null;
    for (let after = start; ;) {
      const page: readonly Receiver[] = await this.#options.waiting(after, PAGE);
      for (const receiver of page) {
        if (receiver.id === end || signal.aborted) return first;
        first ??= receiver.id;
        after = receiver;
        if (this.#hasTurn(receiver)) await this.#offer(receiver, signal);
      }
      if (page.length < PAGE) return first;
    }
  }

  #hasTurn({ id }: Receiver): boolean {
    return !this.#admitted.has(id) && (this.#rests.get(id)?.untilMs ?? 0) <= this.#options.clock.nowMs();
  }

  async #offer(receiver: Receiver, signal: AbortSignal): Promise<void> {
    const { id, workspaceUuid } = receiver;
    await this.#options.owners.readLimits(workspaceUuid);
    const { release } = this.#shares.take(workspaceUuid);
    if (release === null) return;
    this.#last = receiver;
    const pass = this.#lanes
      .run(workspaceUuid, () => this.#options.serve(receiver, this.#startPass(id, signal)), signal)
      .catch((error: unknown) => {
        if (signal.aborted) return;
        this.#options.onError(error, receiver);
        this.#rest(id);
      });
    this.#admitted.set(
      id,
      pass.finally(() => {
        release();
        this.#admitted.delete(id);
      }),
    );
  }

  #startPass(id: string, signal: AbortSignal): DeliveryPass {
    const { clock } = this.#options;
    const endsAtMs = clock.nowMs() + PASS_MS;
    const isOver = (): boolean => signal.aborted || clock.nowMs() >= endsAtMs;
    return {
      get isOver() {
        return isOver();
      },
      signal,
      deliver: async (events, keyOf, deliverOne) => {
        const due = this.#rests.has(id) ? events.slice(0, 1) : events;
        const outcome = await deliverInOrder([...Map.groupBy(due, keyOf).values()], isOver, async (event) => {
          const result = await deliverOne(event);
          if (result === 'delivered') this.#rests.delete(id);
          return result;
        });
        if (outcome === 'failed') this.#rest(id);
        return outcome;
      },
    };
  }

  #rest(id: string): void {
    const lengthMs = Math.min((this.#rests.get(id)?.lengthMs ?? FIRST_REST_MS / 2) * 2, LONGEST_REST_MS);
    this.#rests.set(id, { untilMs: this.#options.clock.nowMs() + lengthMs, lengthMs });
  }
}

/** Ends at the first outcome that is not `delivered`, and returns it; `failed` if there are both others. */
async function deliverInOrder<Event>(
  byKey: Event[][],
  isOver: () => boolean,
  deliverOne: (event: Event) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  const ends = new Set<DeliveryOutcome>();
  const work = async (): Promise<void> => {
    for (let events = byKey.shift(); events !== undefined; events = byKey.shift()) {
      for (const event of events) {
        if (ends.size > 0 || isOver()) return;
        const outcome = await deliverOne(event).catch((error: unknown) => {
          ends.add('failed');
          throw error;
        });
        if (outcome !== 'delivered') ends.add(outcome);
      }
    }
  };
  const works = await Promise.allSettled(Array.from({ length: KEYS_AT_ONCE }, work));
  for (const result of works) if (result.status === 'rejected') throw result.reason;
  if (ends.has('failed')) return 'failed';
  return ends.has('stopped') ? 'stopped' : 'delivered';
}
