import { generateBytes, type Body } from './bodies.ts';

/** One operation a client requested on a key. */
export type Attempt = { kind: 'put'; body: Body } | { kind: 'delete' };

interface KeyHistory {
  /** State of the key after the last acknowledged attempt. */
  settled: Attempt;
  /** Later attempts that were never answered; each may or may not have happened. */
  open: Attempt[];
}

/** What clients know about keys: what was acknowledged, and what may have happened since. */
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

  /** The response was a refusal, so it did not happen. */
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

  /** What a key holds according to all responses; null if it holds nothing or an attempt is open. */
  known(key: string): Body | null {
    const history = this.#keys.get(key);
    if (history === undefined || history.open.length > 0 || history.settled.kind === 'delete') return null;
    return history.settled.body;
  }

  /**
   * Returns null if the responses allow the found state, which then becomes the settled one. Otherwise describes the
   * fault: a lost acknowledged write, or bytes that were never sent.
   */
  judge(key: string, found: Buffer | null): string | null {
    const history = this.#history(key);
    const possible = [history.settled, ...history.open];
    const match = possible.find((attempt) =>
      attempt.kind === 'delete' ? found === null : found?.equals(generateBytes(this.seed, attempt.body)) === true,
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
