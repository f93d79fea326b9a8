import type { Clock } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { AccountDatabase } from '../stores.ts';
import type { PasswordHasher } from './password-hasher.ts';
import type { PasswordProof } from './password-proof.ts';
import { assertSuitablePassword } from './password-rules.ts';
import { holdsPassword, setPassword } from './set-password.ts';

export interface PasswordChangeRequest {
  userId: string;
  currentPassword: string;
  newPassword: string;
  /** The caller's own session, which stays; null ends all sessions. */
  keepSessionId: string | null;
  remoteAddress: string;
}

export class PasswordChange {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #hasher: PasswordHasher;
  readonly #proof: PasswordProof;

  constructor(database: AccountDatabase, clock: Clock, hasher: PasswordHasher, proof: PasswordProof) {
    this.#database = database;
    this.#clock = clock;
    this.#hasher = hasher;
    this.#proof = proof;
  }

  /** Ends all other sessions and forgets known browsers. Throws BUSY. Returns the number of sessions ended. */
  async change(request: PasswordChangeRequest): Promise<number> {
    const { userId, currentPassword, newPassword, keepSessionId, remoteAddress } = request;
    const user = await this.#database.users.byId(userId);
    if (user === undefined) throw accountErrors.UNAUTHORIZED();
    assertSuitablePassword(newPassword, user);
    await this.#proof.require({ user, password: currentPassword, remoteAddress, field: 'current_password' });
    const passwordHash = await this.#hasher.hash(newPassword, { remoteAddress, account: userId });
    const now = timestamp(this.#clock.now());
    return this.#database.transact(async (stores) => {
      if (!(await holdsPassword(stores, user))) {
        throw accountErrors.WRONG_PASSWORD({ details: { field: 'current_password' } });
      }
      return setPassword(stores, { id: user.id, passwordHash }, now, { sessionId: keepSessionId });
    });
  }
}
