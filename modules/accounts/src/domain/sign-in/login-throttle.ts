import { TokenBuckets } from '@svc/runtime';
import { accountErrors } from '../../errors.ts';
import { hashToken } from '../tokens/random-token.ts';
import { addressBlock } from './address-block.ts';
import { GrowingDelays } from './growing-delays.ts';
import { OneByOne } from './one-by-one.ts';

export interface ThrottleOptions {
  /** Failed sign-ins from one address, over all accounts. */
  addressBurst: number;
  addressPerMinute: number;
  /** Failed sign-ins to one account from all unknown browsers together. */
  accountBurst: number;
  accountPerMinute: number;
  /** Failed sign-ins to one account from one address before each further one must wait. */
  freeFailures: number;
  maxDelaySeconds: number;
}

export interface Attempt {
  remoteAddress: string;
  /** The e-mail as it was given: one that nobody has is throttled the same way. */
  account: string;
  /** Hash of the device token, when this browser signed in to this very account before. */
  knownDevice: string | null;
}

const MAX_KEYS = 20_000;
const FORGET_EVERY_MS = 10 * 60_000;
/** Attempts on one account from one address that wait for each other. */
const MAX_IN_LINE = 32;

/**
 * Slows guessing down without handing anybody a way to lock a user out:
 * - one address pays for all its failures, and waits longer with each failure on one account;
 * - many addresses together pay for the failures on one account;
 * - a browser that this user signed in from before holds a device cookie, and is judged by its own failures alone. So
 *   whatever strangers do to an account, its user gets in from where he got in before (OWASP, device cookies).
 * API tokens and running sessions are never asked. A refused attempt looks at no password, so a right one teaches
 * nothing during the wait. State is in memory, bounded, per replica; a restart forgives.
 */
export class LoginThrottle {
  readonly #addresses: TokenBuckets;
  readonly #accounts: TokenBuckets;
  readonly #delays: GrowingDelays;
  readonly #oneByOne = new OneByOne(MAX_IN_LINE);

  constructor(options: ThrottleOptions, now: () => Date) {
    const buckets = { nowMs: () => now().getTime(), maxKeys: MAX_KEYS };
    this.#addresses = new TokenBuckets({ burst: options.addressBurst, perMinute: options.addressPerMinute }, buckets);
    this.#accounts = new TokenBuckets({ burst: options.accountBurst, perMinute: options.accountPerMinute }, buckets);
    this.#delays = new GrowingDelays(
      {
        freeFailures: options.freeFailures,
        maxDelayMs: options.maxDelaySeconds * 1000,
        forgetEveryMs: FORGET_EVERY_MS,
        maxKeys: MAX_KEYS,
      },
      now,
    );
  }

  /**
   * Runs `check` when the attempt may be made, and counts it when it fails. Attempts side by side on one account from
   * one address go one by one: wrong ones are all counted, and right ones are not refused for the sake of each other.
   * Throws TOO_MANY_ATTEMPTS and BUSY.
   */
  attempt<Check extends { matches: boolean }>(attempt: Attempt, check: () => Promise<Check>): Promise<Check> {
    const keys = keysOf(attempt);
    return this.#oneByOne.run(keys.pair, async () => {
      this.#admit(attempt, keys);
      const result = await check();
      if (result.matches) this.#takeBack(attempt, keys);
      return result;
    });
  }

  /** Charged before it is known to fail, for the attempts from other addresses at the same time. */
  #admit(attempt: Attempt, { address, account, pair }: Keys): void {
    const strangers = attempt.knownDevice === null;
    const waitMs = Math.max(
      this.#delays.waitMs(pair),
      strangers ? this.#addresses.waitMs(address) : 0,
      strangers ? this.#accounts.waitMs(account) : 0,
    );
    if (waitMs > 0) throw tooMany(waitMs);
    this.#delays.charge(pair);
    if (!strangers) return;
    this.#addresses.add(address, -1);
    this.#accounts.add(account, -1);
  }

  #takeBack(attempt: Attempt, { address, account, pair }: Keys): void {
    this.#delays.forgive(pair);
    if (attempt.knownDevice !== null) return;
    this.#addresses.add(address, 1);
    this.#accounts.add(account, 1);
  }
}

interface Keys {
  address: string;
  account: string;
  pair: string;
}

function keysOf(attempt: Attempt): Keys {
  const address = addressBlock(attempt.remoteAddress);
  const account = hashToken(attempt.account); // a fixed length, whatever was typed
  return { address, account, pair: `${account} ${attempt.knownDevice ?? address}` };
}

function tooMany(waitMs: number): Error {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return accountErrors.TOO_MANY_ATTEMPTS({
    details: { retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  });
}
