import type { Clock, Random } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { User } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import { hashToken, mintToken } from '../tokens/random-token.ts';
import { normalizeEmail } from '../users/email.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { assertSuitablePassword } from './password-rules.ts';
import { setPassword } from './set-password.ts';

const LIFETIME_SECONDS = 24 * 3600;

/**
 * Single-use links that set a password, for users who forgot theirs or never had one. The platform sends no mail: the
 * operator creates the link, hands it over, and never learns the password.
 */
export class PasswordLinks {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hasher: PasswordHasher;

  constructor(database: AccountDatabase, clock: Clock, random: Random, hasher: PasswordHasher) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#hasher = hasher;
  }

  /** Replaces the user's earlier link. Only this call returns the secret. Throws USER_NOT_FOUND. */
  async create(email: string): Promise<{ user: User; secret: string; expiresAt: string }> {
    const normalized = normalizeEmail(email);
    const user = normalized === undefined ? undefined : await this.#database.users.byEmail(normalized);
    if (user === undefined) throw accountErrors.USER_NOT_FOUND();
    const now = this.#clock.now();
    const secret = mintToken('svc_pwd_', this.#random.bytes);
    const expiresAt = timestamp(secondsAfter(now, LIFETIME_SECONDS));
    await this.#database.passwordLinks.put({
      userId: user.id,
      tokenHash: hashToken(secret),
      createdAt: timestamp(now),
      expiresAt,
    });
    return { user, secret, expiresAt };
  }

  /** Sets the password and ends every session. Throws PASSWORD_LINK_NOT_FOUND, PASSWORD_UNSUITABLE and BUSY. */
  async use(secret: string, password: string, remoteAddress: string): Promise<{ user: User; sessionsEnded: number }> {
    const tokenHash = hashToken(secret);
    const now = timestamp(this.#clock.now());
    const link = await this.#database.passwordLinks.byTokenHash(tokenHash);
    const user = link === undefined ? undefined : await this.#database.users.byId(link.userId);
    if (link === undefined || link.expiresAt <= now || user === undefined) {
      throw accountErrors.PASSWORD_LINK_NOT_FOUND();
    }
    assertSuitablePassword(password, user);
    const passwordHash = await this.#hasher.hash(password, { remoteAddress, account: user.id });
    const sessionsEnded = await this.#database.transact(async (stores) => {
      // Only one of several concurrent callers can claim the link.
      if (!(await stores.passwordLinks.claim(tokenHash, now))) throw accountErrors.PASSWORD_LINK_NOT_FOUND();
      return setPassword(stores, { id: user.id, passwordHash }, now);
    });
    return { user, sessionsEnded };
  }
}
