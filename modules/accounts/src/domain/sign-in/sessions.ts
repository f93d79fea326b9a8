import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, Random } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import type { Session } from '../records.ts';
import type { AccountStores } from '../stores.ts';
import { isUseDue } from '../tokens/lifetime.ts';
import { hashToken, mintToken } from '../tokens/random-token.ts';

export interface SessionOptions {
  /** Maximum lifetime of a session, however active. */
  lifetimeSeconds: number;
  /** A session ends after this long without use. */
  idleSeconds: number;
  maxPerUser: number;
}

const MAX_USER_AGENT = 200;

/** Sign-ins. The console holds the session's token in a cookie; an access JWT names its session and ends with it. */
export class Sessions {
  readonly #stores: Pick<AccountStores, 'sessions'>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #options: SessionOptions;

  constructor(stores: Pick<AccountStores, 'sessions'>, clock: Clock, random: Random, options: SessionOptions) {
    this.#stores = stores;
    this.#clock = clock;
    this.#random = random;
    this.#options = options;
  }

  get lifetimeSeconds(): number {
    return this.#options.lifetimeSeconds;
  }

  /** `stores`: those of a transaction that the session is part of. */
  async begin(
    userId: string,
    from: { remoteAddress: string; userAgent: string },
    stores: Pick<AccountStores, 'sessions'> = this.#stores,
  ): Promise<{ session: Session; secret: string }> {
    const now = this.#clock.now();
    const secret = mintToken('svc_ses_', this.#random.bytes);
    const session: Session = {
      id: this.#random.uuid(),
      userId,
      tokenHash: hashToken(secret),
      remoteAddress: from.remoteAddress,
      userAgent: from.userAgent.slice(0, MAX_USER_AGENT),
      createdAt: timestamp(now),
      lastSeenAt: timestamp(now),
      expiresAt: timestamp(secondsAfter(now, this.#options.lifetimeSeconds)),
      confirmedAt: timestamp(now),
    };
    await stores.sessions.insert(session);
    await stores.sessions.trim(userId, this.#options.maxPerUser);
    return { session, secret };
  }

  async bySecret(secret: string): Promise<Session | undefined> {
    return this.#use(await this.#stores.sessions.byTokenHash(hashToken(secret)));
  }

  async byId(id: string): Promise<Session | undefined> {
    return this.#use(await this.#stores.sessions.byId(id));
  }

  /** Returns the session without marking it as used: a recheck of a right must not keep an idle session alive. */
  async standing(id: string): Promise<Session | undefined> {
    return this.#ifAlive(await this.#stores.sessions.byId(id));
  }

  /** Records that the user has just proved their identity. Returns the time. */
  async confirm(id: string): Promise<Date> {
    const now = this.#clock.now();
    await this.#stores.sessions.confirm(id, timestamp(now));
    return now;
  }

  /** Times before which a session has expired, for the purge. */
  deadlines(now: Date): { now: string; idleBefore: string } {
    return { now: timestamp(now), idleBefore: timestamp(secondsAfter(now, -this.#options.idleSeconds)) };
  }

  async #use(found: Session | undefined): Promise<Session | undefined> {
    const session = this.#ifAlive(found);
    if (session === undefined) return undefined;
    const now = this.#clock.now();
    if (isUseDue(session.lastSeenAt, now)) await this.#stores.sessions.touch(session.id, timestamp(now));
    return session;
  }

  #ifAlive(session: Session | undefined): Session | undefined {
    if (session === undefined) return undefined;
    const { now, idleBefore } = this.deadlines(this.#clock.now());
    return session.expiresAt <= now || session.lastSeenAt <= idleBefore ? undefined : session;
  }
}

/**
 * The value that a page must send back in `X-CSRF-Token`. It derives from the session's secret, which no other site can
 * read, and is useless without the cookie, so nothing else is stored.
 */
export function csrfTokenOf(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('csrf').digest('base64url');
}

export function csrfTokenMatches(sessionSecret: string, shown: string | undefined): boolean {
  if (shown === undefined) return false;
  const expected = Buffer.from(csrfTokenOf(sessionSecret));
  const given = Buffer.from(shown);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
