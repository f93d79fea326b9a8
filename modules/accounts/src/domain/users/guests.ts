import { addressKey, networkKey } from '@svc/addresses';
import { type Clock, findShareRefusal, type Random, TokenBuckets } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { AccessJwt } from '../jwt/access-jwt.ts';
import type { User } from '../records.ts';
import type { AccountDatabase, UserStore } from '../stores.ts';
import { newWorkspace } from './create-person.ts';

export interface GuestOptions {
  enabled: boolean;
  tokenLifetimeSeconds: number;
  maxActive: number;
  /** Per address; also the burst size. */
  perMinute: number;
}

export interface GuestSignedIn {
  token: string;
  expiresAt: Date;
  user: User;
}

const MAX_ADDRESSES = 20_000;
const HOLDERS = { key: 'address', group: 'network' };

/**
 * Guest users, for smoke tests. Each sign-in creates a new user with its own workspace, which ends with its token. No
 * e-mail or name leads back to it, so a guest cannot enter another's sandbox by using that guest's name.
 */
export class Guests {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #jwt: AccessJwt;
  readonly #options: GuestOptions;
  readonly #addresses: TokenBuckets;

  constructor(database: AccountDatabase, clock: Clock, random: Random, jwt: AccessJwt, options: GuestOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#jwt = jwt;
    this.#options = options;
    const { perMinute } = options;
    this.#addresses = new TokenBuckets(
      { burst: perMinute, perMinute },
      { nowMs: () => clock.nowMs(), maxKeys: MAX_ADDRESSES },
    );
  }

  /** Throws GUESTS_DISABLED, TOO_MANY_ATTEMPTS and TOO_MANY_GUESTS. */
  async signIn(username: string, remoteAddress: string): Promise<GuestSignedIn> {
    if (!this.#options.enabled) throw accountErrors.GUESTS_DISABLED();
    this.#admit(remoteAddress);
    const now = this.#clock.now();
    const user: User = {
      id: this.#random.uuid(),
      kind: 'guest',
      email: null,
      name: username,
      passwordHash: null,
      operatorSince: null,
      tokensValidFrom: timestamp(now),
      createdAt: timestamp(now),
      updatedAt: timestamp(now),
      expiresAt: timestamp(secondsAfter(now, this.#options.tokenLifetimeSeconds)),
      sponsorId: null,
      guestAddress: addressKey(remoteAddress),
      guestNetwork: networkKey(remoteAddress),
    };
    await this.#database.transact(async (stores) => {
      // Concurrent replicas may each exceed the limit by one: it bounds the order of magnitude, not the exact count.
      await this.#assertRoom(stores.users, user);
      await stores.users.insert(user);
      await stores.workspaces.insert(
        newWorkspace({ clock: this.#clock, random: this.#random }, user.id, `Guest ${username}`, null),
      );
    });
    const claims = { userId: user.id, sessionId: null, kind: 'guest' } as const;
    const { token, expiresAt } = await this.#jwt.issue(claims, this.#options.tokenLifetimeSeconds);
    return { token, expiresAt, user };
  }

  /** Addresses and networks have shares of the guests, counted in the database for all replicas. */
  async #assertRoom(users: UserStore, guest: User): Promise<void> {
    const { all, address, network } = await users.countGuests(guest.createdAt, guest);
    const limit = { capacity: this.#options.maxActive, holders: HOLDERS };
    const refusal = findShareRefusal({ all, key: address, group: network }, limit);
    if (refusal === null) return;
    const holder = refusal.holder === 'replica' ? 'installation' : refusal.holder;
    throw accountErrors.TOO_MANY_GUESTS({ details: { ...refusal, holder }, headers: { 'retry-after': '60' } });
  }

  #admit(remoteAddress: string): void {
    const key = addressKey(remoteAddress);
    const waitMs = this.#addresses.waitMs(key);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      throw accountErrors.TOO_MANY_ATTEMPTS({
        details: { retry_after_seconds: seconds },
        headers: { 'retry-after': String(seconds) },
      });
    }
    this.#addresses.add(key, -1);
  }
}
