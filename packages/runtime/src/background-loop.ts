import { backgroundClock, pause, type Clock } from './clock.ts';

/** What a `BackgroundLoop` repeats, and when. */
export interface BackgroundLoopOptions {
  /** One run. Its signal aborts when the loop ends, which waits for the run. */
  run: (signal: AbortSignal) => Promise<unknown>;
  /** Time between the end of a run and the start of the next. A function is called after each run. */
  intervalMs: number | (() => number);
  /** Starts the first run at once. By default it starts after the first interval. */
  runsAtStart?: boolean;
  /**
   * Receives the error of a failed run, and the signal that the run had; the next one starts after the interval as
   * usual.
   */
  onError: (error: unknown, signal: AbortSignal) => void;
  /** Defaults to the clock of the process, with timers that do not keep the process alive. */
  clock?: Pick<Clock, 'setTimer'>;
}

/**
 * Repeats background work until it is closed. Runs never overlap, and a failed run does not end the loop.
 *
 * @example
 *   const loop = new BackgroundLoop({
 *     run: () => sessions.removeExpired(),
 *     intervalMs: 60_000,
 *     onError: (err) => log.error({ err }, 'expired sessions could not be removed'),
 *   });
 *   loop.start();
 *   await loop.close();
 */
export class BackgroundLoop {
  readonly #options: BackgroundLoopOptions;
  readonly #closed = new AbortController();
  /** Aborts the wait for the next run. Each run replaces it, so that a wake during a run ends the wait after it. */
  #waking = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: BackgroundLoopOptions) {
    this.#options = options;
  }

  /** Starts the loop, which ends on `close`, or when the signal aborts. Later calls do nothing. */
  start(signal?: AbortSignal): void {
    const { signal: closed } = this.#closed;
    this.#running ??= this.#repeat(signal === undefined ? closed : AbortSignal.any([signal, closed]));
  }

  /** Starts the loop, and resolves when the signal has aborted and the last run has ended. */
  async runUntil(signal: AbortSignal): Promise<void> {
    this.start(signal);
    await this.#running;
  }

  /** Starts the next run now, or at the end of the current one. */
  wake(): void {
    this.#waking.abort();
  }

  /** Ends the loop and waits for the current run. A closed loop does not start again. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    const { run, onError, runsAtStart = false } = this.#options;
    signal.addEventListener('abort', () => this.wake(), { once: true });
    if (!runsAtStart && !signal.aborted) await this.#wait();
    while (!signal.aborted) {
      this.#waking = new AbortController();
      try {
        await run(signal);
      } catch (error) {
        onError(error, signal);
      }
      await this.#wait();
    }
  }

  #wait(): Promise<void> {
    const { clock = backgroundClock, intervalMs } = this.#options;
    return pause(clock, typeof intervalMs === 'number' ? intervalMs : intervalMs(), this.#waking.signal);
  }
}
