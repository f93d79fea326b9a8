import { type Effects, timestamp } from '../effects.ts';
import { accountErrors } from '../errors.ts';
import type { LoginThrottle } from '../sign-in/login-throttle.ts';
import type { AccountDatabase } from '../stores.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { assertSuitablePassword } from './password-rules.ts';

export interface PasswordChangeRequest {
  userId: string;
  /** May be absent only for a user who never had one, since an external issuer signs him in. */
  currentPassword: string | undefined;
  newPassword: string;
  /** The caller's own session, which goes on; null ends them all. */
  keepSessionId: string | null;
  remoteAddress: string;
}

export class PasswordChange {
  readonly #database: AccountDatabase;
  readonly #effects: Effects;
  readonly #hasher: PasswordHasher;
  readonly #throttle: LoginThrottle;

  constructor(database: AccountDatabase, effects: Effects, hasher: PasswordHasher, throttle: LoginThrottle) {
    this.#database = database;
    this.#effects = effects;
    this.#hasher = hasher;
    this.#throttle = throttle;
  }

  /** Ends every other session and forgets known browsers. Answers how many sessions ended. */
  async change(request: PasswordChangeRequest): Promise<number> {
    const user = await this.#database.users.byId(request.userId);
    if (user === undefined) throw accountErrors.UNAUTHORIZED();
    assertSuitablePassword(request.newPassword, user);
    if (user.passwordHash !== null) await this.#assertCurrent(request, user.passwordHash);
    const passwordHash = await this.#hasher.hash(request.newPassword);
    const now = timestamp(this.#effects.now());
    return this.#database.transact(async (stores) => {
      await stores.users.update(user.id, { passwordHash }, now);
      await stores.devices.deleteOfUser(user.id);
      return stores.sessions.deleteOfUser(user.id, request.keepSessionId ?? undefined);
    });
  }

  /** Throttled like a sign-in: whoever found an open session must not guess the password through it. */
  async #assertCurrent(request: PasswordChangeRequest, stored: string): Promise<void> {
    const { userId, remoteAddress, currentPassword } = request;
    // Its own key, so that guesses here do not delay sign-ins and guesses there do not delay this.
    const attempt = { remoteAddress, account: `password of ${userId}`, knownDevice: null };
    const { matches } = await this.#throttle.attempt(attempt, () => this.#hasher.check(currentPassword ?? '', stored));
    if (!matches) throw accountErrors.WRONG_PASSWORD({ details: { field: 'current_password' } });
  }
}
