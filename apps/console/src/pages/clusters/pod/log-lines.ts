/** The newest lines of a log, at most so many. */
export class LogLines {
  readonly #most: number;
  #lines: string[] = [];
  #open = '';
  /** Lines that were left out at the beginning, or lost on the way. */
  droppedLines = 0;
  droppedBytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Pieces may end within a line. */
  push(text: string): void {
    const parts = `${this.#open}${text}`.split('\n');
    // A line without an end must not grow for ever either.
    this.#open = (parts.pop() ?? '').slice(-MOST_LINE_CHARACTERS);
    for (const part of parts) this.#lines.push(part.slice(0, MOST_LINE_CHARACTERS).replace(/\r$/, ''));
    const over = this.#lines.length - this.#most;
    if (over <= 0) return;
    this.#lines = this.#lines.slice(over);
    this.droppedLines += over;
  }

  lost(lines: number, bytes: number): void {
    this.droppedLines += lines;
    this.droppedBytes += bytes;
  }

  get text(): string {
    return [...this.#lines, ...(this.#open === '' ? [] : [this.#open])].join('\n');
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#open === '';
  }
}

const MOST_LINE_CHARACTERS = 16 * 1024;
