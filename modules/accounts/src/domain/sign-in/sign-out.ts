import { type Effects, timestamp } from '../effects.ts';
import type { AccountDatabase } from '../stores.ts';

/** Ends sign-ins. Access JWTs name their session and end with it; API tokens are revoked separately. */
export class SignOut {
  readonly #database: AccountDatabase;
  readonly #effects: Effects;

  constructor(database: AccountDatabase, effects: Effects) {
    this.#database = database;
    this.#effects = effects;
  }

  /** Ends one session. Returns the number ended: 0 for a credential without a session, such as an API token. */
  async here(sessionId: string | null): Promise<number> {
    if (sessionId === null) return 0;
    return (await this.#database.sessions.delete(sessionId)) ? 1 : 0;
  }

  /** Ends every session, and rejects external tokens issued before now. */
  async everywhere(userId: string): Promise<number> {
    const now = timestamp(this.#effects.now());
    return this.#database.transact(async (stores) => {
      await stores.users.update(userId, { tokensValidFrom: now }, now);
      return stores.sessions.deleteOfUser(userId);
    });
  }
}
