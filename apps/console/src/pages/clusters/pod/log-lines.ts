/** Keeps a bounded number of a log's newest lines. */
export class LogLines {
  readonly #most: number;
  #lines: string[] = [];
  #open = '';
  /** Lines dropped at the beginning or lost in transit. */
  droppedLines = 0;
  droppedBytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Pieces may end within a line. */
  push(text: string): void {
    const parts = `${this.#open}${text}`.split('\n');
    // An unterminated line must be bounded as well.
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
