import { argon2, timingSafeEqual } from 'node:crypto';
import { HashingQueue, type HashingClient } from './hashing-queue.ts';
import { type Argon2Parameters, formatPhc, parsePhc } from './phc-string.ts';

export interface PasswordCheck {
  matches: boolean;
  /** The stored hash uses old parameters: rehash while the password is known. */
  outdated: boolean;
}

/** Throws BUSY if the client, or everybody together, has too many passwords waiting. Null is the platform itself. */
export interface PasswordHasher {
  hash(password: string, client: HashingClient | null): Promise<string>;
  /** A missing or unreadable hash costs as much as a wrong password, and never matches. */
  check(password: string, stored: string | null | undefined, client: HashingClient | null): Promise<PasswordCheck>;
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const AT_ONCE = 2;
const MAX_WAITING = 64;

/** RFC 9106: derives `sizeBytes` bytes from `password` and `salt`. */
export type DeriveKey = (password: string, salt: Buffer, cost: Argon2Parameters, sizeBytes: number) => Promise<Buffer>;

export class Argon2PasswordHasher implements PasswordHasher {
  readonly #parameters: Argon2Parameters;
  readonly #randomBytes: (sizeBytes: number) => Buffer;
  readonly #queue = new HashingQueue(AT_ONCE, MAX_WAITING);
  readonly #decoySalt: Buffer;
  readonly #derive: DeriveKey;

  constructor(
    parameters: Argon2Parameters,
    randomBytes: (sizeBytes: number) => Buffer,
    derive: DeriveKey = deriveArgon2id,
  ) {
    this.#derive = derive;
    this.#parameters = parameters;
    this.#randomBytes = randomBytes;
    this.#decoySalt = randomBytes(SALT_BYTES);
  }

  async hash(password: string, client: HashingClient | null): Promise<string> {
    const salt = this.#randomBytes(SALT_BYTES);
    const hash = await this.#queue.run(client, () => this.#derive(password, salt, this.#parameters, HASH_BYTES));
    return formatPhc({ parameters: this.#parameters, salt, hash });
  }

  async check(
    password: string,
    stored: string | null | undefined,
    client: HashingClient | null,
  ): Promise<PasswordCheck> {
    const known = stored === null || stored === undefined ? undefined : parsePhc(stored);
    if (known === undefined) {
      await this.#queue.run(client, () => this.#derive(password, this.#decoySalt, this.#parameters, HASH_BYTES));
      return { matches: false, outdated: false };
    }
    const { parameters, salt, hash } = known;
    const derived = await this.#queue.run(client, () => this.#derive(password, salt, parameters, hash.length));
    return { matches: timingSafeEqual(derived, hash), outdated: !sameCost(parameters, this.#parameters) };
  }
}

function sameCost(left: Argon2Parameters, right: Argon2Parameters): boolean {
  return left.memoryKib === right.memoryKib && left.passes === right.passes && left.parallelism === right.parallelism;
}

/** Runs on the thread pool. Normalizes Unicode, so that a password is the same on every keyboard. */
export function deriveArgon2id(
  password: string,
  salt: Buffer,
  cost: Argon2Parameters,
  sizeBytes: number,
): Promise<Buffer> {
  const { memoryKib: memory, passes, parallelism } = cost;
  const message = Buffer.from(password.normalize('NFC'));
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message, nonce: salt, memory, passes, parallelism, tagLength: sizeBytes }, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    );
  });
}
