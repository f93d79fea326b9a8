import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import type { PasswordHasher } from '../password/password-hasher.ts';
import { holdsPassword } from '../password/set-password.ts';
import type { Session, User } from '../records.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';
import { hashToken, mintToken } from '../tokens/random-token.ts';
import { normalizeEmail } from '../users/email.ts';
import type { Attempt, LoginThrottle } from './login-throttle.ts';
import type { Sessions } from './sessions.ts';

export interface LoginRequest {
  email: string;
  password: string;
  remoteAddress: string;
  userAgent: string;
  /** Content of the device cookie, if the browser sent one. */
  deviceSecret: string | null;
}

/** Keeps the account of a refused sign-in for the audit log; the response never reveals it. */
export interface SignInRefused {
  outcome: 'refused';
  userId: string | null;
}

export interface SignedIn {
  outcome: 'success';
  user: User;
  session: Session;
  sessionSecret: string;
  deviceSecret: string;
}

const MAX_DEVICES_PER_USER = 20;

/** Sign-in with e-mail and password. Neither the response nor the work done reveals whether a user exists. */
export class SignIn {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hasher: PasswordHasher;
  readonly #sessions: Sessions;
  readonly #throttle: LoginThrottle;

  constructor(
    database: AccountDatabase,
    clock: Clock,
    random: Random,
    hasher: PasswordHasher,
    sessions: Sessions,
    throttle: LoginThrottle,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#hasher = hasher;
    this.#sessions = sessions;
    this.#throttle = throttle;
  }

  /** Throws TOO_MANY_ATTEMPTS and BUSY. */
  async login(request: LoginRequest): Promise<SignedIn | SignInRefused> {
    const email = normalizeEmail(request.email);
    const user = email === undefined ? undefined : await this.#database.users.byEmail(email);
    const knownDevice = await this.#knownDevice(user, request.deviceSecret);
    const attempt: Attempt = {
      remoteAddress: request.remoteAddress,
      account: email ?? request.email,
      knownDevice,
    };
    // A known device has a share of its own: those who try this account elsewhere never keep its user out.
    const client = { remoteAddress: request.remoteAddress, account: knownDevice ?? attempt.account };
    const check = await this.#throttle.attempt(attempt, () =>
      this.#hasher.check(request.password, user?.passwordHash, client),
    );
    if (!check.matches || user === undefined) return { outcome: 'refused', userId: user?.id ?? null };
    const rehashed = check.outdated ? await this.#hasher.hash(request.password, client) : null;
    return this.#database.transact(async (stores) => {
      if (!(await holdsPassword(stores, user))) return { outcome: 'refused', userId: user.id };
      const now = timestamp(this.#clock.now());
      if (rehashed !== null) await stores.users.update(user.id, { passwordHash: rehashed }, now);
      const { session, secret } = await this.#sessions.begin(user.id, request, stores);
      const known = knownDevice === null ? null : request.deviceSecret;
      const deviceSecret = await this.#rememberDevice(stores, user.id, known);
      return { outcome: 'success', user, session, sessionSecret: secret, deviceSecret };
    });
  }

  /** The hash of the device's secret if this user has signed in from it. */
  async #knownDevice(user: User | undefined, deviceSecret: string | null): Promise<string | null> {
    if (user === undefined || deviceSecret === null) return null;
    const hash = hashToken(deviceSecret);
    return (await this.#database.devices.isKnown(user.id, hash)) ? hash : null;
  }

  async #rememberDevice(stores: AccountStores, userId: string, known: string | null): Promise<string> {
    const secret = known ?? mintToken('svc_dev_', this.#random.bytes);
    await stores.devices.put({
      tokenHash: hashToken(secret),
      userId,
      lastSeenAt: timestamp(this.#clock.now()),
    });
    await stores.devices.trim(userId, MAX_DEVICES_PER_USER);
    return secret;
  }
}
