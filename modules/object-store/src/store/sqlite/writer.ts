import { Worker } from 'node:worker_threads';
import type { Command, CommandOutcome } from '../outcome.ts';
import type { WriterReply, WriterRequest, WriterSettings } from './writer-protocol.ts';

/** Objects here are small and short-lived; the default would take three times the memory without benefit. */
const YOUNG_GENERATION_MIB = 4;

export interface Batch {
  readonly outcomes: readonly CommandOutcome[];
  /** Cached buckets may be outdated. */
  readonly bucketsChanged: boolean;
}

interface Pending {
  resolve(reply: WriterReply): void;
  reject(error: Error): void;
}

/** Main-thread handle of the writer thread. Sends one request at a time. */
export class SqliteWriter {
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  #pending: Pending | null = null;
  #failure: Error | null = null;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.on('message', (reply: WriterReply) => {
      const pending = this.#pending;
      this.#pending = null;
      pending?.resolve(reply);
    });
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => this.#fail(new Error(`the writer thread ended with code ${code}`)));
  }

  static async start(settings: WriterSettings): Promise<SqliteWriter> {
    const worker = new Worker(new URL('./writer-worker.ts', import.meta.url), {
      workerData: settings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    const writer = new SqliteWriter(worker);
    await writer.#reply();
    return writer;
  }

  async run(commands: readonly Command[]): Promise<Batch> {
    const reply = await this.#ask({ kind: 'batch', commands });
    return reply.kind === 'batch' ? reply : { outcomes: [], bucketsChanged: true };
  }

  /** Why the thread cannot accept requests, or null. */
  get failure(): Error | null {
    return this.#failure;
  }

  async close(): Promise<void> {
    if (this.#failure === null) await this.#ask({ kind: 'close' });
    await this.#exited; // exits by itself, so SQLite is never interrupted
  }

  #ask(request: WriterRequest): Promise<WriterReply> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const reply = this.#reply();
    this.#worker.postMessage(request);
    return reply;
  }

  #reply(): Promise<WriterReply> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const pending = this.#pending;
    this.#pending = null;
    pending?.reject(this.#failure);
  }
}
