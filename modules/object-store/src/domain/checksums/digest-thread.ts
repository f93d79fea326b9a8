import { Worker } from 'node:worker_threads';
import { FairQueue } from '@svc/runtime';
import type { DigestName, DigestResults } from './algorithms.ts';
import type { DigestReply, DigestRequest, DigestWorkerSettings } from './digest-protocol.ts';

const SLOT_BYTES = 128 * 1024;
/**
 * Enough to keep the thread busy. Bodies in slots are processed in order of arrival, so small slots let others in sooner.
 */
const SLOTS = 4;
/** Uploads in flight are limited separately, and each waits for one slot at a time. */
const MAX_WAITING = 16_384;
/** Nearly everything it handles is shared memory. */
const YOUNG_GENERATION_MIB = 2;

interface Waiter<Value> {
  resolve(value: Value): void;
  reject(error: Error): void;
}

/** One thread for the digests of large bodies, started on first use. */
export class DigestThread {
  readonly slotBytes = SLOT_BYTES;
  #worker: Worker | null = null;
  #memory: Uint8Array = new Uint8Array(0);
  #free: number[] = [];
  readonly #slotWaiters: FairQueue<Waiter<number>>;
  readonly #results = new Map<number, Waiter<DigestResults>>();
  #lastStream = 0;
  #failure: Error | null = null;

  /** `shareOf`: keys with the same share take turns as one. By default each key has its own. */
  constructor(shareOf: (key: string) => string = (key) => key) {
    this.#slotWaiters = new FairQueue({ maxItems: MAX_WAITING, groupOf: shareOf });
  }

  begin(names: readonly DigestName[]): number {
    this.#lastStream += 1;
    this.#send({ kind: 'begin', stream: this.#lastStream, names });
    return this.#lastStream;
  }

  /** Copies the chunks (at most `slotBytes` in total) and resolves once they are sent, in the key's turn. */
  async update(stream: number, chunks: readonly Uint8Array[], key: string): Promise<void> {
    const slot = await this.#takeSlot(key);
    let offset = slot * SLOT_BYTES;
    for (const chunk of chunks) {
      this.#memory.set(chunk, offset);
      offset += chunk.length;
    }
    this.#send({ kind: 'update', stream, slot, length: offset - slot * SLOT_BYTES });
  }

  finish(stream: number): Promise<DigestResults> {
    return new Promise((resolve, reject) => {
      this.#results.set(stream, { resolve, reject });
      this.#send({ kind: 'finish', stream });
    });
  }

  cancel(stream: number): void {
    this.#send({ kind: 'cancel', stream });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#fail(new Error('the digest thread was closed'));
    if (worker === null) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ kind: 'close' } satisfies DigestRequest);
    await exited;
  }

  #takeSlot(key: string): Promise<number> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const slot = this.#free.pop();
    if (slot !== undefined) return Promise.resolve(slot);
    return new Promise((resolve, reject) => {
      if (this.#slotWaiters.push(key, { resolve, reject }) === null) reject(new Error('too many bodies wait'));
    });
  }

  #send(request: DigestRequest): void {
    if (this.#failure !== null) {
      if (request.kind === 'finish') this.#settle(request.stream)?.reject(this.#failure);
      return;
    }
    this.#start().postMessage(request);
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker;
    const memory = new SharedArrayBuffer(SLOTS * SLOT_BYTES);
    const workerData: DigestWorkerSettings = { memory, slotBytes: SLOT_BYTES };
    const worker = new Worker(new URL('./digest-worker.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    worker.on('message', (reply: DigestReply) => this.#receive(reply));
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))));
    this.#memory = new Uint8Array(memory);
    this.#free = Array.from({ length: SLOTS }, (_, slot) => slot);
    this.#worker = worker;
    return worker;
  }

  #receive(reply: DigestReply): void {
    if (reply.kind === 'free') {
      const waiter = this.#slotWaiters.shift();
      if (waiter === undefined) this.#free.push(reply.slot);
      else waiter.resolve(reply.slot);
      return;
    }
    const results: DigestResults = {};
    // names that this class sent
    for (const [name, bytes] of Object.entries(reply.results)) results[name as DigestName] = Buffer.from(bytes);
    this.#settle(reply.stream)?.resolve(results);
  }

  #settle(stream: number): Waiter<DigestResults> | undefined {
    const waiter = this.#results.get(stream);
    this.#results.delete(stream);
    return waiter;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const waiter of this.#slotWaiters.drain()) waiter.reject(this.#failure);
    for (const stream of this.#results.keys()) this.#settle(stream)?.reject(this.#failure);
  }
}
