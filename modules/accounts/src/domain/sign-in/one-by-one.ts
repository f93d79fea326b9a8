import { accountErrors } from '../../errors.ts';

interface Line {
  last: Promise<unknown>;
  length: number;
}

/**
 * Runs tasks with the same key one at a time, and those with different keys concurrently. A full queue refuses with
 * BUSY.
 */
export class OneByOne {
  readonly #maxLength: number;
  readonly #lines = new Map<string, Line>();

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Keys with a running or waiting task. */
  get size(): number {
    return this.#lines.size;
  }

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= this.#maxLength) throw accountErrors.BUSY({ headers: { 'retry-after': '1' } });
    const result = line.last.then(task);
    line.last = result.catch(() => undefined); // the tasks behind it do not fail with it
    line.length += 1;
    this.#lines.set(key, line);
    try {
      return await result;
    } finally {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(key);
    }
  }
}
