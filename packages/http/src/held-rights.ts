import { isAppError, type AppError } from '@svc/errors';
import type { Logger, Metrics } from '@svc/telemetry';
import { httpErrors } from './errors.ts';

/** What an answer, a connection or a link stands on, and how to ask whether it still stands. */
export interface HeldRight {
  /** Connections whose rights have the same key share one check. */
  readonly key: string;
  /** The key, and whatever else the answer can depend on: connections with another exact key are asked for again alone. */
  readonly exactKey: string;
  /** When the right was last known to stand (milliseconds since the Unix epoch). */
  readonly confirmedAtMs: number;
  /** Throws the refusal (401, 403 or 404) once the right is gone; any other error means that it could not be asked for. */
  check(): Promise<void>;
}

export interface HeldRightsOptions {
  nowMs: () => number;
  /** Runs the callback once after the delay (milliseconds); the answer cancels it. */
  setTimer: (callback: () => void, delayMs: number) => () => void;
  /** A check could not be made, or a connection could not be ended. */
  onError: (error: unknown) => void;
}

interface Member {
  readonly right: HeldRight;
  readonly end: (refusal: AppError) => void;
}

interface Group {
  readonly key: string;
  /** The right of the first member: the oldest, and so the strictest question. */
  readonly right: HeldRight;
  readonly members: Set<Member>;
  confirmedAtMs: number;
  dueAtMs: number;
  isAsking: boolean;
  /** Since when the group is asked for without an answer; null while it is confirmed. */
  unansweredSinceMs: number | null;
}

/** Rights are asked for again this long after they were last confirmed. */
const CHECK_AFTER_MS = 750;
/** Due rights are looked for this often: a revoked right is gone after both times and that of its check. */
const TICK_MS = 250;
const CHECKS_AT_ONCE = 16;
/** Accounts that cannot be asked take nothing away for this long; then every connection that is not confirmed ends. */
const GRACE_MS = 30_000;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * The one mechanism that ends what was taken away: holds every request, stream and upgraded connection, asks for the right
 * of those that live longer than 0.75 s again and again, and ends them when it is gone (decision 0034).
 */
export class HeldRights {
  readonly #options: HeldRightsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #queue: Group[] = [];
  #asking = 0;
  #members = 0;
  #ended = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;

  constructor(options: HeldRightsOptions) {
    this.#options = options;
  }

  /** The clock by which rights are confirmed. */
  now(): Date {
    return new Date(this.#options.nowMs());
  }

  /**
   * Calls `end` once, with the refusal, when the right is gone. The answer releases the right: the connection is over.
   * A connection that is held after `stop` is never asked for.
   */
  hold(right: HeldRight, end: (refusal: AppError) => void): () => void {
    const member: Member = { right, end };
    this.#join(right.key, member);
    this.#members += 1;
    this.#schedule();
    return () => this.#release(member);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#groups.clear();
    this.#members = 0;
  }

  /** How many connections are held. */
  get size(): number {
    return this.#members;
  }

  /** How many connections were ended because their right was gone. */
  get ended(): number {
    return this.#ended;
  }

  /** The time (milliseconds) since the longest unconfirmed right was confirmed: the promise is less than two seconds. */
  get oldestMs(): number {
    const nowMs = this.#options.nowMs();
    let oldestMs = 0;
    for (const { confirmedAtMs } of this.#groups.values()) oldestMs = Math.max(oldestMs, nowMs - confirmedAtMs);
    return oldestMs;
  }

  #join(key: string, member: Member): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.members.add(member);
      return;
    }
    const { right } = member;
    const { confirmedAtMs } = right;
    const dueAtMs = confirmedAtMs + CHECK_AFTER_MS;
    const state = { confirmedAtMs, dueAtMs, isAsking: false, unansweredSinceMs: null };
    this.#groups.set(key, { key, right, members: new Set([member]), ...state });
  }

  #release(member: Member): void {
    const { key, exactKey } = member.right;
    for (const each of key === exactKey ? [key] : [key, exactKey]) {
      const group = this.#groups.get(each);
      if (group?.members.delete(member) !== true) continue;
      this.#members -= 1;
      if (group.members.size === 0) this.#groups.delete(each);
    }
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#isStopped || this.#groups.size === 0) return;
    this.#cancel = this.#options.setTimer(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    this.#cancel = null;
    const nowMs = this.#options.nowMs();
    for (const group of this.#groups.values()) {
      const { dueAtMs, isAsking, unansweredSinceMs } = group;
      if (unansweredSinceMs !== null && nowMs - unansweredSinceMs > GRACE_MS) {
        this.#end(group, [...group.members], httpErrors.RIGHT_UNCONFIRMED());
      } else if (!isAsking && (dueAtMs <= nowMs || dueAtMs > nowMs + CHECK_AFTER_MS)) {
        this.#enqueue(group, nowMs); // due, or due at a time that a clock which was set back will reach late
      }
    }
    this.#askNext();
    this.#schedule();
  }

  #enqueue(group: Group, nowMs: number): void {
    group.isAsking = true;
    group.unansweredSinceMs ??= nowMs;
    this.#queue.push(group);
  }

  #askNext(): void {
    while (this.#asking < CHECKS_AT_ONCE) {
      const group = this.#queue.shift();
      if (group === undefined) return;
      if (this.#groups.get(group.key) !== group) continue; // over meanwhile
      this.#asking += 1;
      void this.#ask(group).finally(() => {
        this.#asking -= 1;
        this.#askNext();
      });
    }
  }

  async #ask(group: Group): Promise<void> {
    const askedAtMs = this.#options.nowMs();
    try {
      await group.right.check();
      group.confirmedAtMs = askedAtMs;
      group.unansweredSinceMs = null;
      group.dueAtMs = askedAtMs + CHECK_AFTER_MS;
    } catch (error) {
      group.dueAtMs = this.#options.nowMs() + CHECK_AFTER_MS;
      if (isAppError(error) && REFUSALS.has(error.status)) this.#refuse(group, error);
      else this.#options.onError(error);
    } finally {
      group.isAsking = false;
    }
  }

  /** Ends those whose exact question was answered; the others are asked for one by one. */
  #refuse(group: Group, refusal: AppError): void {
    if (this.#groups.get(group.key) !== group) return;
    const { exactKey } = group.right;
    const members = [...group.members];
    const answered = members.filter(({ right }) => right.exactKey === exactKey);
    this.#end(group, answered, refusal);
    for (const member of members) {
      if (!group.members.delete(member)) continue; // ended, or released by the end of another
      this.#join(member.right.exactKey, member);
    }
    if (this.#groups.get(group.key) === group) this.#groups.delete(group.key);
    this.#askAtOnce(members);
  }

  #askAtOnce(members: readonly Member[]): void {
    for (const { right } of members) {
      const group = this.#groups.get(right.exactKey);
      if (group !== undefined && !group.isAsking) this.#enqueue(group, this.#options.nowMs());
    }
    this.#askNext();
  }

  #end(group: Group, members: readonly Member[], refusal: AppError): void {
    for (const member of members) {
      if (!group.members.delete(member)) continue;
      this.#members -= 1;
      this.#ended += 1;
      try {
        member.end(refusal);
      } catch (error) {
        this.#options.onError(error);
      }
    }
    if (group.members.size === 0) this.#groups.delete(group.key);
  }
}

/** By the machine's clock, with timers that keep no process alive. */
export function createHeldRights(log: Logger): HeldRights {
  return new HeldRights({
    nowMs: Date.now,
    setTimer: (callback, delayMs) => {
      const timer = setTimeout(callback, delayMs).unref();
      return () => clearTimeout(timer);
    },
    onError: (err) => log.warn({ err }, 'the right to an open connection could not be checked; it is checked again'),
  });
}

/** The figures of what is held: `svc_held_rights_oldest_seconds` above two breaks the promise. */
export function observeHeldRights(metrics: Metrics, rights: HeldRights): void {
  const held = metrics.gauge('svc_held_rights', 'Requests and connections that end with the right to them');
  const oldest = metrics.gauge(
    'svc_held_rights_oldest_seconds',
    'Time since the longest unconfirmed right of an open connection was confirmed',
  );
  const ended = metrics.gauge('svc_held_rights_ended', 'Connections that were ended because their right was gone');
  Object.assign(held, { collect: () => held.set(rights.size) });
  Object.assign(oldest, { collect: () => oldest.set(rights.oldestMs / 1000) });
  Object.assign(ended, { collect: () => ended.set(rights.ended) });
}
