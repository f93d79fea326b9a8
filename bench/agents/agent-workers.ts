import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import type { WorkerOrder, WorkerReport } from './agents-worker.ts';

interface Worker {
  child: ChildProcess;
  connected: number;
}

const WAIT_MS = 30 * 60_000;

/** Processes that each run an equal share of the agents. */
export class AgentWorkers {
  readonly #workers: Worker[];
  #back: WorkerReport['back'] = [];

  constructor(count: number) {
    this.#workers = Array.from({ length: count }, () => {
      const worker: Worker = { child: fork(join(import.meta.dirname, 'agents-worker.ts')), connected: 0 };
      worker.child.on('message', (report: WorkerReport) => {
        worker.connected = report.connected;
        this.#back.push(...report.back);
      });
      return worker;
    });
  }

  get connected(): number {
    return this.#workers.reduce((sum, { connected }) => sum + connected, 0);
  }

  /** Returns the reconnects since the last call. */
  takeBack(): WorkerReport['back'] {
    return this.#back.splice(0);
  }

  start(environments: Record<string, string>[]): void {
    for (const [index, { child }] of this.#workers.entries()) {
      const order: WorkerOrder = { start: environments.filter((_, at) => at % this.#workers.length === index) };
      child.send(order);
    }
  }

  keep(count: number): void {
    const order: WorkerOrder = { start: [], keep: count / this.#workers.length };
    for (const { child } of this.#workers) child.send(order);
  }

  async untilConnected(count: number): Promise<void> {
    const description = (): string => `${count} agents; ${this.connected} are there`;
    await waitFor(() => this.connected === count, { timeoutMs: WAIT_MS, intervalMs: 100, description });
  }

  stop(): void {
    for (const { child } of this.#workers) child.kill();
  }
}
