import { accountErrors } from '../../errors.ts';
import type { User } from '../records.ts';
import type { LoginThrottle } from '../sign-in/login-throttle.ts';
import type { PasswordHasher } from './password-hasher.ts';

export interface PasswordProofRequest {
  user: User;
  password: string;
  remoteAddress: string;
  /** The request field that holds the password. */
  field: string;
}

/**
 * Asks the signed-in user for the password, throttled like a sign-in so that an open session cannot be used to guess
 * it.
 */
export class PasswordProof {
  readonly #hasher: PasswordHasher;
  readonly #throttle: LoginThrottle;

  constructor(hasher: PasswordHasher, throttle: LoginThrottle) {
    this.#hasher = hasher;
    this.#throttle = throttle;
  }

  /** Throws WRONG_PASSWORD, PASSWORD_NOT_SET, TOO_MANY_ATTEMPTS and BUSY. */
  async require({ user, password, remoteAddress, field }: PasswordProofRequest): Promise<void> {
    const stored = user.passwordHash;
    if (stored === null) throw accountErrors.PASSWORD_NOT_SET();
    // A separate key, so that guesses here and at sign-in do not delay each other.
    const attempt = { remoteAddress, account: `password of ${user.id}`, knownDevice: null };
    const { matches } = await this.#throttle.attempt(attempt, () =>
      this.#hasher.check(password, stored, { remoteAddress, account: user.id }),
    );
    if (!matches) throw accountErrors.WRONG_PASSWORD({ details: { field } });
  }
}
