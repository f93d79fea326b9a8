import { BackgroundLoop } from '@svc/runtime';
import { renderBytes } from '../client/output.ts';

/** Progress of one body; a resent body starts over. */
export interface BodyProgress {
  add(sizeBytes: number): void;
  restart(): void;
}

const REDRAW_MS = 200;
const BAR_CELLS = 24;

/** A progress line on a terminal; prints nothing elsewhere. Owns its loop until `close`. */
export class ProgressLine {
  readonly #terminal: NodeJS.WriteStream | null;
  readonly #redraws: BackgroundLoop;
  readonly #startedMs = performance.now();
  #movedBytes = 0;
  #totalBytes = 0;
  #done = 0;
  #total = 0;
  #drawn = false;

  constructor(terminal: NodeJS.WriteStream | null) {
    this.#terminal = terminal;
    this.#redraws = new BackgroundLoop({
      run: async () => this.#draw(),
      intervalMs: REDRAW_MS,
      onError: () => undefined, // a terminal that is gone needs no progress
    });
    if (terminal !== null) this.#redraws.start();
  }

  expect(sizeBytes: number): void {
    this.#totalBytes += sizeBytes;
    this.#total += 1;
  }

  finish(): void {
    this.#done += 1;
  }

  body(): BodyProgress {
    let sentBytes = 0;
    return {
      add: (sizeBytes) => {
        sentBytes += sizeBytes;
        this.#movedBytes += sizeBytes;
      },
      restart: () => {
        this.#movedBytes -= sentBytes;
        sentBytes = 0;
      },
    };
  }

  /** Clears the line for other output. */
  clear(): void {
    if (this.#drawn) this.#terminal?.write('\r\u001b[K');
    this.#drawn = false;
  }

  close(): void {
    void this.#redraws.close();
    this.clear();
  }

  #draw(): void {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    const line = renderProgress({
      movedBytes: this.#movedBytes,
      totalBytes: this.#totalBytes,
      done: this.#done,
      total: this.#total,
      seconds,
    });
    const columns = this.#terminal?.columns ?? 0;
    // Terminals without a known size report 0.
    const width = columns === 0 ? 79 : Math.max(10, columns - 1);
    this.#terminal?.write(`\r\u001b[K${line.slice(0, width)}`);
    this.#drawn = true;
  }
}

export function renderProgress(state: {
  movedBytes: number;
  totalBytes: number;
  done: number;
  total: number;
  seconds: number;
}): string {
  const { movedBytes, totalBytes, done, total, seconds } = state;
  const rate = seconds < 0.5 ? '' : `  ${renderBytes(Math.round(movedBytes / seconds))}/s`;
  if (total === 0) return `${renderBytes(movedBytes)}${rate}`; // a pipe: the total is unknown
  const share = totalBytes === 0 ? 0 : Math.min(1, movedBytes / totalBytes);
  const cells = Math.round(share * BAR_CELLS);
  const bar = `${'#'.repeat(cells)}${'-'.repeat(BAR_CELLS - cells)}`;
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `[${bar}] ${percent}  ${renderBytes(movedBytes)} of ${renderBytes(totalBytes)}  ${done} of ${total}${rate}`;
}
