import type { Clock } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import type { AccountDatabase } from '../stores.ts';

/** Ends sign-ins. Access JWTs name their session and end with it; API tokens are revoked separately. */
export class SignOut {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;

  constructor(database: AccountDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Ends one session. Returns the number ended: 0 for a credential without a session, such as an API token. */
  async here(sessionId: string | null): Promise<number> {
    if (sessionId === null) return 0;
    return (await this.#database.sessions.delete(sessionId)) ? 1 : 0;
  }

  /** Ends every session, and rejects external tokens issued before now. */
  async everywhere(userId: string): Promise<number> {
    const now = timestamp(this.#clock.now());
    return this.#database.transact(async (stores) => {
      await stores.users.update(userId, { tokensValidFrom: now }, now);
      return stores.sessions.deleteOfUser(userId);
    });
  }
}
