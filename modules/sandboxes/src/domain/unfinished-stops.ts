import type { KeyedQueue } from '@svc/runtime';
import type { ClusterDrivers, DrivenSandbox } from './clusters/cluster-drivers.ts';
import type { LiveSandboxes } from './live-sandboxes.ts';
import type { SandboxRepository } from './ports.ts';
import { isReportedLost, type Sandbox } from './sandbox.ts';

interface UnfinishedStopsDeps {
  readonly repository: Pick<SandboxRepository, 'find'>;
  readonly drivers: Pick<ClusterDrivers, 'of' | 'isAway'>;
  readonly live: Pick<LiveSandboxes, 'release'>;
  readonly queue: Pick<KeyedQueue, 'run'>;
  readonly node: string;
}

/**
 * Stops the programs of sandboxes, and remembers those that may run on although their records say otherwise, because the
 * driver or the database failed. The sweep finishes these stops; after a crash, the reconciliation does.
 */
export class UnfinishedStops {
  readonly #deps: UnfinishedStopsDeps;
  /** Only sandboxes of this node: `finish` forgets all others. */
  readonly #unfinished = new Map<string, DrivenSandbox>();

  constructor(deps: UnfinishedStopsDeps) {
    this.#deps = deps;
  }

  get sandboxes(): readonly DrivenSandbox[] {
    return [...this.#unfinished.values()];
  }

  has(id: string): boolean {
    return this.#unfinished.has(id);
  }

  /** Call it before the record says that the sandbox does not run: the answer to that change may be lost. */
  add({ id, workspaceUuid, cluster }: DrivenSandbox): void {
    this.#unfinished.set(id, { id, workspaceUuid, cluster });
  }

  /** Ends the programs of a sandbox in its turn. If that fails, `finish` repeats it. */
  async stop(sandbox: DrivenSandbox, graceMs: number): Promise<void> {
    const { live, drivers } = this.#deps;
    const { id } = sandbox;
    this.add(sandbox);
    await live.release(id);
    await drivers.of(sandbox).stop(id, graceMs);
    this.#unfinished.delete(id);
  }

  /**
   * Waits for the turn of the sandbox, then ends what an unfinished stop has left, unless it was started again. Does nothing
   * yet while its cluster is away.
   */
  async finish({ id }: Pick<Sandbox, 'id'>): Promise<void> {
    if (!this.has(id)) return;
    const { repository, queue, drivers } = this.#deps;
    await queue.run(id, async () => {
      if (!this.has(id)) return;
      const sandbox = await repository.find(id);
      if (sandbox === null || !this.#mustStop(sandbox)) this.#unfinished.delete(id);
      else if (!drivers.isAway(sandbox)) await this.stop(sandbox, 0);
    });
  }

  /** What was reported as lost may continue when its node or cluster returns. */
  #mustStop(sandbox: Sandbox): boolean {
    const { status, node } = sandbox;
    const isEnded = status === 'stopped' || status === 'error';
    return isEnded && node === this.#deps.node && !isReportedLost(sandbox);
  }
}
