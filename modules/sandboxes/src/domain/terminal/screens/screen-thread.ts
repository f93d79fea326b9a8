import { Worker } from 'node:worker_threads';
import type { ScreenAnswer, ScreenOrder } from './screen-messages.ts';

/** A thread that answers nothing for so long never will: it is ended. */
const MAX_ANSWER_MS = 60_000;
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 } as const;

export interface ScreenThreadOptions {
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly answered: (answer: ScreenAnswer) => void;
  /** It is gone with all screens; `culprit` is the one that it was at work on. */
  readonly died: (reason: string, culprit: number | null) => void;
}

/** One thread, which is there while there is a screen to keep. */
export class ScreenThread {
  readonly #options: ScreenThreadOptions;
  #worker: Worker | null = null;
  /** Orders that are not answered yet. */
  #pending = 0;
  /** The number of the screen that the thread is at work on, 0 when it waits. */
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

  /** Nothing is kept any more. */
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
