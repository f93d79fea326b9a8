import { KeyedQueue, TokenBuckets } from '@svc/runtime';
import { accountErrors } from '../../errors.ts';
import { hashToken } from '../tokens/random-token.ts';
import { addressBlock } from './address-block.ts';
import { GrowingDelays } from './growing-delays.ts';

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

const MAX_KEYS = 20_000;
const FORGET_EVERY_MS = 10 * 60_000;
/** Concurrent attempts on one account from one address that may queue. */
const MAX_IN_LINE = 32;

/**
 * Slows down guessing without giving attackers a way to lock users out:
 * - each address pays for all its failures, and waits longer with each failure on one account;
 * - failures on one account count across all addresses;
 * - a browser that this user has signed in from before holds a device cookie and is throttled by its own failures only,
 *   so attacks on an account never keep its user out there (OWASP, device cookies).
 * API tokens and running sessions are not throttled. A throttled attempt does not check the password, so even a correct
 * one reveals nothing during the wait. State is in memory, bounded, per replica; a restart clears it.
 */
export class LoginThrottle {
  readonly #addresses: TokenBuckets;
  readonly #accounts: TokenBuckets;
  readonly #delays: GrowingDelays;
  readonly #attempts = new KeyedQueue({
    maxPerKey: MAX_IN_LINE,
    refuse: () => accountErrors.BUSY({ headers: { 'retry-after': '1' } }),
  });

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
   * Runs `check` if the attempt is allowed, and counts a failure. Concurrent attempts on one account from one address
   * run one at a time: all wrong ones are counted, and correct ones do not cause each other to be refused. Throws
   * TOO_MANY_ATTEMPTS and BUSY.
   */
  attempt<Check extends { matches: boolean }>(attempt: Attempt, check: () => Promise<Check>): Promise<Check> {
    const keys = keysOf(attempt);
    return this.#attempts.run(keys.pair, async () => {
      this.#admit(attempt, keys);
      const result = await check();
      if (result.matches) this.#refund(attempt, keys);
      return result;
    });
  }

  /** Charged before the outcome is known, so that concurrent attempts from other addresses count. */
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

  #refund(attempt: Attempt, { address, account, pair }: Keys): void {
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
  const account = hashToken(attempt.account); // a fixed length, whatever was entered
  return { address, account, pair: `${account} ${attempt.knownDevice ?? address}` };
}

function tooMany(waitMs: number): Error {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return accountErrors.TOO_MANY_ATTEMPTS({
    details: { retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  });
}
