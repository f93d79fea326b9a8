import { Worker } from 'node:worker_threads';
import type { ScreenAnswer, ScreenOrder } from './screen-messages.ts';

/** A thread without an answer for this long is terminated. */
const MAX_ANSWER_MS = 60_000;
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 } as const;

export interface ScreenThreadOptions {
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly answered: (answer: ScreenAnswer) => void;
  /** Called when the thread has ended and all screens are lost; `culprit` is the screen it was processing. */
  readonly died: (reason: string, culprit: number | null) => void;
}

/** A single worker thread that exists only while there are screens to keep. */
export class ScreenThread {
  readonly #options: ScreenThreadOptions;
  #worker: Worker | null = null;
  /** Orders without an answer so far. */
  #pending = 0;
  /** Number of the screen being processed; 0 when idle. */
  #current = new Int32Array(new SharedArrayBuffer(4));
  #cancelWatch: () => void = () => undefined;

  constructor(options: ScreenThreadOptions) {
    this.#options = options;
  }

  order(order: ScreenOrder): void {
    if (order.kind === 'forget' && this.#worker === null) return;
    const worker = (this.#worker ??= this.#start());
    if (order.kind !== 'forget') {
      this.#pending += 1;
      if (this.#pending === 1) this.#watch();
    }
    if (order.kind === 'feed') worker.postMessage(order, [order.bytes.buffer as ArrayBuffer]);
    else worker.postMessage(order);
  }

  /** Ends the thread and drops all screens. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#forget();
    await worker?.terminate();
  }

  #start(): Worker {
    this.#current = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(new URL('./screen-worker.ts', import.meta.url), {
      workerData: this.#current.buffer,
      resourceLimits: LIMITS,
      env: {},
      execArgv: [],
      name: 'screens',
    });
    worker.unref();
    let reason = 'the thread ended';
    worker.on('message', (answer: ScreenAnswer) => {
      if (this.#worker !== worker) return;
      this.#pending -= 1;
      this.#watch();
      this.#options.answered(answer);
    });
    worker.once('error', (error) => (reason = String(error)));
    worker.once('exit', () => this.#died(worker, reason));
    return worker;
  }

  #watch(): void {
    this.#cancelWatch();
    this.#cancelWatch = () => undefined;
    if (this.#pending === 0) return;
    const worker = this.#worker;
    this.#cancelWatch = this.#options.setTimer(() => void worker?.terminate(), MAX_ANSWER_MS);
  }

  #died(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    const culprit = this.#current[0] || null;
    this.#forget();
    this.#options.died(reason, culprit);
  }

  #forget(): void {
    this.#worker = null;
    this.#pending = 0;
    this.#cancelWatch();
    this.#cancelWatch = () => undefined;
  }
}
