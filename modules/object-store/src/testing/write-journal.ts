import { createCipheriv, createHash } from 'node:crypto';

/** One thing that a client asked for a key. */
export type Attempt = { kind: 'put'; number: number; sizeBytes: number } | { kind: 'delete'; number: number };

interface KeyHistory {
  /** What the last answered attempt made of the key. */
  settled: Attempt | null;
  /** Asked after that, and never answered: each of them may have happened, or not. */
  open: Attempt[];
}

/** What the clients of a campaign know: for each key what was answered, and what may or may not have happened since. */
export class WriteJournal {
  readonly #seed: string;
  readonly #keys = new Map<string, KeyHistory>();
  #lastNumber = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  begin(key: string, kind: 'put' | 'delete', sizeBytes: number): Attempt {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const attempt: Attempt = kind === 'put' ? { kind, number, sizeBytes } : { kind, number };
    this.#history(key).open.push(attempt);
    return attempt;
  }

  answered(key: string, attempt: Attempt): void {
    const history = this.#history(key);
    history.settled = attempt;
    history.open = [];
  }

  keys(): Iterable<string> {
    return this.#keys.keys();
  }

  /** The bytes of an attempt: the same each time, and of no other attempt. */
  bodyOf(attempt: Attempt): Buffer {
    if (attempt.kind === 'delete') return Buffer.alloc(0);
    const key = createHash('sha256').update(`${this.#seed}/${attempt.number}`).digest();
    const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
    return cipher.update(Buffer.alloc(attempt.sizeBytes));
  }

  /**
   * Null when what was found is one of the states that the answers allow; then it is what counts from now on. Else what is
   * wrong: a write that was answered is gone, or bytes that nobody sent.
   */
  judge(key: string, found: Buffer | null): string | null {
    const history = this.#history(key);
    const possible = [history.settled ?? ({ kind: 'delete', number: 0 } as const), ...history.open];
    const match = possible.find((attempt) =>
      attempt.kind === 'delete' ? found === null : found?.equals(this.bodyOf(attempt)) === true,
    );
    if (match === undefined) {
      const expected = possible.map((attempt) => `${attempt.kind} ${attempt.number}`).join(' or ');
      return `${key}: found ${found === null ? 'nothing' : `${found.length} other bytes`}, expected ${expected}`;
    }
    history.settled = match;
    history.open = [];
    return null;
  }

  #history(key: string): KeyHistory {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh: KeyHistory = { settled: null, open: [] };
    this.#keys.set(key, fresh);
    return fresh;
  }
}
