import { addressKey } from '@svc/addresses';
import { KeyedQueue, RecentMap, type Clock } from '@svc/runtime';
import { accountErrors } from '../../errors.ts';
import type { AccountStores } from '../stores.ts';
import { hashToken } from '../tokens/random-token.ts';
import { createBucketCounter, createDelayCounter, type AttemptCounter } from './counted-attempts.ts';

export interface ThrottleOptions {
  /** Failed sign-ins from one address, across all accounts. */
  addressBurst: number;
  addressPerMinute: number;
  /** Failed sign-ins to one account from all unknown browsers together. */
  accountBurst: number;
  accountPerMinute: number;
  /** Failed sign-ins to one account from one address before each further one is delayed. */
  freeFailures: number;
  maxDelaySeconds: number;
}

export interface Attempt {
  remoteAddress: string;
  /** The e-mail as entered; an unknown one is throttled in the same way. */
  account: string;
  /** Hash of the device token if this browser has signed in to this account before. */
  knownDevice: string | null;
}

/** The part of the database that the throttle counts in. */
export interface ThrottleDatabase {
  transact<Result>(work: (stores: Pick<AccountStores, 'throttles'>) => Promise<Result>): Promise<Result>;
}

const MAX_REFUSED = 20_000;
const FORGET_EVERY_MS = 10 * 60_000;
/** Concurrent attempts on one account from one address that may queue. */
const MAX_IN_LINE = 32;

/** In the order of their names: transactions that lock several kinds never wait for one another in a circle. */
type Kind = 'account' | 'address' | 'pair';

interface Counted {
  readonly key: string;
  readonly counter: AttemptCounter;
}

/**
 * Slows down guessing without giving attackers a way to lock users out:
 * - each address pays for all its failures, and waits longer with each failure on one account;
 * - failures on one account count across all addresses;
 * - a browser that this user has signed in from before holds a device cookie and is throttled by its own failures only,
 *   so attacks on an account never keep its user out there (OWASP, device cookies).
 * API tokens and running sessions are not throttled. A throttled attempt does not check the password, so even a correct
 * one reveals nothing during the wait. All replicas count in the database, so guesses spread over them gain nothing.
 */
export class LoginThrottle {
  readonly #database: ThrottleDatabase;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #counters: Readonly<Record<Kind, AttemptCounter>>;
  /** Ends of the waits that this replica knows of: attempts in a flood that are refused anyway cost no query. */
  readonly #refusedUntilMs = new RecentMap<number>(MAX_REFUSED);
  readonly #attempts = new KeyedQueue({
    maxPerKey: MAX_IN_LINE,
    refuse: () => accountErrors.BUSY({ headers: { 'retry-after': '1' } }),
  });

  constructor(database: ThrottleDatabase, options: ThrottleOptions, clock: Pick<Clock, 'nowMs'>) {
    this.#database = database;
    this.#clock = clock;
    this.#counters = {
      account: createBucketCounter({ burst: options.accountBurst, perMinute: options.accountPerMinute }),
      address: createBucketCounter({ burst: options.addressBurst, perMinute: options.addressPerMinute }),
      pair: createDelayCounter({
        freeFailures: options.freeFailures,
        maxDelayMs: options.maxDelaySeconds * 1000,
        forgetEveryMs: FORGET_EVERY_MS,
      }),
    };
  }

  /**
   * Runs `check` if the attempt is allowed, and counts a failure. Concurrent attempts on one account from one address
   * run one at a time: all wrong ones are counted, and correct ones do not cause each other to be refused. Throws
   * TOO_MANY_ATTEMPTS and BUSY.
   */
  async attempt<Check extends { matches: boolean }>(attempt: Attempt, check: () => Promise<Check>): Promise<Check> {
    const counted = this.#countedOf(attempt);
    const pair = counted.at(-1)?.key ?? '';
    return await this.#attempts.run(pair, async () => {
      await this.#admit(counted);
      const result = await check();
      if (result.matches) await this.#change(counted, 'refund');
      return result;
    });
  }

  /** Charged before the outcome is known, so that concurrent attempts from other addresses count. */
  async #admit(counted: readonly Counted[]): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const known = counted.map(({ key }) => (this.#refusedUntilMs.get(key) ?? 0) - nowMs);
    const waits = Math.max(...known) > 0 ? known : await this.#change(counted, 'charge');
    for (const [index, { key }] of counted.entries()) {
      const waitMs = waits[index] ?? 0;
      if (waitMs > 0) this.#refusedUntilMs.set(key, nowMs + waitMs);
      else this.#refusedUntilMs.delete(key);
    }
    const waitMs = Math.max(...waits);
    if (waitMs > 0) throw tooMany(waitMs);
  }

  /** Counts under each key, unless one of them must wait. Returns the wait of each. */
  #change(counted: readonly Counted[], change: 'charge' | 'refund'): Promise<readonly number[]> {
    const nowMs = this.#clock.nowMs();
    return this.#database.transact(async ({ throttles }) => {
      const keys = counted.map(({ key }) => key);
      const rows = (await throttles.lock(keys, nowMs)).flatMap((attempts, index) => {
        const counter = counted[index]?.counter;
        return counter === undefined ? [] : [{ attempts, counter }];
      });
      const waits = rows.map(({ attempts, counter }) => (change === 'charge' ? counter.waitMs(attempts, nowMs) : 0));
      if (Math.max(...waits) === 0) {
        await throttles.save(rows.map(({ attempts, counter }) => counter[change](attempts, nowMs)));
      }
      return waits;
    });
  }

  #countedOf({ remoteAddress, account, knownDevice }: Attempt): Counted[] {
    const block = addressKey(remoteAddress);
    // A fixed length, whatever was entered.
    const count = (kind: Kind, ...who: string[]): Counted => ({
      key: `${kind} ${hashToken(JSON.stringify(who))}`,
      counter: this.#counters[kind],
    });
    const pair = count('pair', account, knownDevice ?? block);
    return knownDevice === null ? [count('account', account), count('address', block), pair] : [pair];
  }
}

function tooMany(waitMs: number): Error {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return accountErrors.TOO_MANY_ATTEMPTS({
    details: { retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  });
}
