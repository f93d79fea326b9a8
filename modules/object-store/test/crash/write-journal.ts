import { bytesOf, type Body } from './bodies.ts';

/** One thing that a client asked for a key. */
export type Attempt = { kind: 'put'; body: Body } | { kind: 'delete' };

interface KeyHistory {
  /** What the last answered attempt made of the key. */
  settled: Attempt;
  /** Asked after that, and never answered: each of them may have happened, or not. */
  open: Attempt[];
}

/** What the clients of a campaign know of keys: what was answered, and what may or may not have happened since. */
export class WriteJournal {
  readonly seed: string;
  readonly #keys = new Map<string, KeyHistory>();
  #lastNumber = 0;

  constructor(seed: string) {
    this.seed = seed;
  }

  newBody(sizeBytes: number): Body {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, sizeBytes };
  }

  begin(key: string, attempt: Attempt): Attempt {
    this.#history(key).open.push(attempt);
    return attempt;
  }

  answered(key: string, attempt: Attempt): void {
    const history = this.#history(key);
    history.settled = attempt;
    history.open = [];
  }

  /** Answered with a refusal: it did not happen. */
  refused(key: string, attempt: Attempt): void {
    const history = this.#history(key);
    history.open = history.open.filter((each) => each !== attempt);
  }

  keys(): Iterable<string> {
    return this.#keys.keys();
  }

  settled(key: string): Attempt['kind'] {
    return this.#history(key).settled.kind;
  }

  /** What a key holds by all answers; null where it holds nothing or an attempt is open. */
  known(key: string): Body | null {
    const history = this.#keys.get(key);
    if (history === undefined || history.open.length > 0 || history.settled.kind === 'delete') return null;
    return history.settled.body;
  }

  /**
   * Null when what was found is one of the states that the answers allow; then it is what counts from now on. Else what is
   * wrong: a write that was answered is gone, or bytes that nobody sent.
   */
  judge(key: string, found: Buffer | null): string | null {
    const history = this.#history(key);
    const possible = [history.settled, ...history.open];
    const match = possible.find((attempt) =>
      attempt.kind === 'delete' ? found === null : found?.equals(bytesOf(this.seed, attempt.body)) === true,
    );
    if (match === undefined) {
      const expected = possible.map((attempt) => (attempt.kind === 'put' ? `put ${attempt.body.number}` : 'delete'));
      return `${key}: found ${found === null ? 'nothing' : `${found.length} other bytes`}, expected ${expected.join(' or ')}`;
    }
    history.settled = match;
    history.open = [];
    return null;
  }

  #history(key: string): KeyHistory {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh: KeyHistory = { settled: { kind: 'delete' }, open: [] };
    this.#keys.set(key, fresh);
    return fresh;
  }
}
