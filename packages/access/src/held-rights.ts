import { isAppError, type AppError } from '@svc/errors';
import type { Logger, Metrics } from '@svc/telemetry';
import { accessErrors } from './errors.ts';

/** The right behind a response, a connection or a link, and how to recheck it. */
export interface HeldRight {
  /** Connections whose rights share a key share one check. */
  readonly key: string;
  /**
   * The key plus everything else that affects the result. If a shared check refuses, connections with another exact key
   * are rechecked individually.
   */
  readonly exactKey: string;
  /** When the right was last confirmed (milliseconds since the Unix epoch). */
  readonly confirmedAtMs: number;
  /** Throws 401, 403 or 404 if the right was revoked. Any other error means that the check itself failed. */
  check(): Promise<void>;
}

/** Clock, timers and error handler of `HeldRights`. */
export interface HeldRightsOptions {
  nowMs: () => number;
  /** Runs the callback once after the delay (milliseconds); returns a function that cancels it. */
  setTimer: (callback: () => void, delayMs: number) => () => void;
  /** Called if a check or the end of a connection fails. */
  onError: (error: unknown) => void;
  /** Maximum concurrent checks. Defaults to 16. */
  checksAtOnce?: number;
}

interface Member {
  readonly right: HeldRight;
  readonly end: (refusal: AppError) => void;
}

interface Group {
  readonly key: string;
  /** The right of the first member: the oldest, so its check is the strictest. */
  readonly right: HeldRight;
  readonly members: Set<Member>;
  confirmedAtMs: number;
  dueAtMs: number;
  isAsking: boolean;
  /** Since when checks of the group have been failing; null while it is confirmed. */
  unansweredSinceMs: number | null;
}

/** Rights are rechecked this long after their last confirmation. */
const CHECK_AFTER_MS = 750;
/**
 * Interval of the search for due rights. A revoked right ends after both times plus the duration of its check: within a
 * second.
 */
const TICK_MS = 100;
const CHECKS_AT_ONCE = 16;
/** While accounts are unavailable, rights stay valid for this long; then every unconfirmed connection ends. */
const GRACE_MS = 30_000;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Ends whatever is revoked: holds every request, stream and upgraded connection, rechecks the rights of those older
 * than 0.75 s, and ends them when the right is gone (decision 0034).
 */
export class HeldRights {
  readonly #options: HeldRightsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #queue: Group[] = [];
  #checksRunning = 0;
  #members = 0;
  #ended = 0;
  #cancel: (() => void) | null = null;
  #isStopped = false;

  constructor(options: HeldRightsOptions) {
    this.#options = options;
  }

  /** Current time of the clock that confirms rights. */
  now(): Date {
    return new Date(this.#options.nowMs());
  }

  /**
   * Calls `end` once, with the refusal, when the right is revoked. Returns a function that releases the right when the
   * connection closes. Rights held after `stop` are never checked.
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

  /** Number of held connections. */
  get size(): number {
    return this.#members;
  }

  /** Number of connections ended because their right was revoked. */
  get ended(): number {
    return this.#ended;
  }

  /** Age of the oldest confirmation, in milliseconds; promised to stay below two seconds. */
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
        this.#end(group, [...group.members], accessErrors.RIGHT_UNCONFIRMED());
      } else if (!isAsking && (dueAtMs <= nowMs || dueAtMs > nowMs + CHECK_AFTER_MS)) {
        this.#enqueue(group, nowMs); // due, or confirmed in the future by a clock that was set back
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
    while (this.#checksRunning < (this.#options.checksAtOnce ?? CHECKS_AT_ONCE)) {
      const group = this.#queue.shift();
      if (group === undefined) return;
      if (this.#groups.get(group.key) !== group) continue; // ended in the meantime
      this.#checksRunning += 1;
      void this.#ask(group).finally(() => {
        this.#checksRunning -= 1;
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

  /** Ends members with the exact key that was checked; rechecks the others individually. */
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

/** Creates `HeldRights` with the system clock and unreferenced timers. */
export function createHeldRights(log: Logger): HeldRights {
  return new HeldRights({
    nowMs: Date.now,
    setTimer: (callback, delayMs) => {
      const timer = setTimeout(callback, delayMs).unref();
      return () => clearTimeout(timer);
    },
    onError: (err) => log.warn({ err }, 'the right to an open connection could not be checked; retrying'),
  });
}

/** Exports metrics for held rights. `svc_held_rights_oldest_seconds` above two breaks the promise. */
export function observeHeldRights(metrics: Metrics, rights: HeldRights): void {
  metrics.observableGauge(
    'svc_held_rights',
    'Open requests and connections that end with their right',
    () => rights.size,
  );
  metrics.observableGauge(
    'svc_held_rights_oldest_seconds',
    'Time since the least recently confirmed right of an open connection was confirmed',
    () => rights.oldestMs / 1000,
  );
  metrics.observableGauge(
    'svc_held_rights_ended',
    'Connections ended because their right was revoked',
    () => rights.ended,
  );
}
