import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from '../context.ts';
import type { MachineRoom, NodeRepository } from './sandbox-node.ts';

const REPORT_EVERY_MS = 15_000;

export interface NodeReporterDeps {
  readonly context: Pick<SandboxContext, 'driver' | 'node' | 'clock' | 'log'>;
  readonly nodes: Pick<NodeRepository, 'report'>;
  readonly maxRunning: number;
  /** Measures the machine of this process. */
  readonly readRoom: () => Promise<MachineRoom>;
}

/** States the room of this node in the database, for operators who ask any replica. */
export class NodeReporter {
  readonly #deps: NodeReporterDeps;
  readonly #loop: BackgroundLoop;

  constructor(deps: NodeReporterDeps) {
    const { clock, log } = deps.context;
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: () => this.report(),
      intervalMs: REPORT_EVERY_MS,
      onError: (error) => log.warn({ err: error }, 'this node could not be reported'),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async report(): Promise<void> {
    const { context, nodes, maxRunning, readRoom } = this.#deps;
    const { driver, node } = context;
    // A driver with a number of its own starts sandboxes elsewhere.
    const room = driver.parallelStarts === undefined ? await readRoom() : null;
    await nodes.report(node, { driver: driver.name, maxRunning, room });
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }
}
