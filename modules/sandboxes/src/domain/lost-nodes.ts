import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from './context.ts';
import { LOST, UNREPORTED_MS, type SandboxMoves } from './nodes/sandbox-moves.ts';
import type { SandboxRestorer } from './nodes/sandbox-restorer.ts';
import type { SandboxNodes } from './ports.ts';
import { isReportedLost, type SandboxFault } from './sandbox.ts';
import type { TerminalPlaces } from './terminal/terminal-places.ts';

const CHECK_EVERY_MS = 5_000;
/** With the interval of the check, a sandbox of a dead node says so within 30 s. */
const LOST_AFTER_MS = 25_000;

const FAULT: SandboxFault = {
  code: LOST,
  message: 'The node of the sandbox does not respond; the sandbox continues if it still runs when the node returns',
  recoverable: true,
};

export interface LostNodesDeps {
  readonly context: SandboxContext;
  readonly nodes: Pick<SandboxNodes, 'silent'>;
  readonly terminals: Pick<TerminalPlaces, 'clear'>;
  readonly moves: Pick<SandboxMoves, 'markLost'>;
  readonly restorer: Pick<SandboxRestorer, 'removeLeftovers' | 'restore'>;
}

/**
 * Keeps the records of sandboxes true when nodes die: every node marks the sandboxes of silent nodes as lost, restores
 * those whose owners want it, and marks its own as running again if it was only cut off. Several nodes may do so at once:
 * only the first change counts.
 */
export class LostNodes {
  readonly #context: SandboxContext;
  readonly #deps: LostNodesDeps;
  readonly #loop: BackgroundLoop;
  /** Nodes whose sandboxes are marked. A silent node gets no new ones. */
  #marked: ReadonlySet<string> = new Set();

  constructor(deps: LostNodesDeps) {
    const { context } = deps;
    this.#context = context;
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: () => this.check(),
      intervalMs: CHECK_EVERY_MS,
      onError: (error) => context.log.error({ err: error }, 'the check for lost nodes failed'),
      clock: context.clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async check(): Promise<void> {
    const { context, nodes, restorer } = this.#deps;
    const startedAtMs = context.clock.nowMs();
    if (await restorer.removeLeftovers()) context.holder.confirm(startedAtMs);
    const silent = (await nodes.silent(LOST_AFTER_MS)).filter((node) => node !== context.node);
    const marked = new Set<string>();
    for (const node of silent) if (this.#marked.has(node) || (await this.#mark(node))) marked.add(node);
    this.#marked = marked;
    await this.#reclaim();
    await restorer.restore(silent);
  }

  /** Returns whether all are marked. */
  async #mark(node: string): Promise<boolean> {
    const { moves, terminals } = this.#deps;
    const { repository, watch, log } = this.#context;
    let count = 0;
    for (const { id } of await repository.ofNode(node, ['creating', 'running'])) {
      const lost = await moves.markLost(id, node, FAULT, UNREPORTED_MS);
      if (lost === null) continue; // another node was faster, or the node has returned
      watch.announce(id, lost);
      count += 1;
    }
    if (count > 0) log.warn({ node, sandboxes: count }, 'a node does not respond; its sandboxes are marked as lost');
    if ((await repository.ofNode(node, ['creating', 'running'])).length > 0) return false;
    await terminals.clear(node); // they ended with the process, and count towards quotas
    return true;
  }

  /** This node was cut off from the database, and others took it for dead. */
  async #reclaim(): Promise<void> {
    const { repository, node, live, log } = this.#context;
    if (live.size === 0) return;
    for (const sandbox of await repository.ofNode(node, ['error'])) {
      if (!isReportedLost(sandbox) || !live.has(sandbox.id)) continue;
      if (await markReturned(this.#context, sandbox.id, live.isPaused(sandbox.id))) {
        log.info({ sandbox: sandbox.id }, 'a sandbox that was reported as lost runs on');
      }
    }
  }
}

/** Moves a sandbox that was reported as lost back to `running`. False if it was deleted or started meanwhile. */
export async function markReturned(
  { repository, watch, clock, node }: Pick<SandboxContext, 'repository' | 'watch' | 'clock' | 'node'>,
  id: string,
  isPaused: boolean,
): Promise<boolean> {
  const now = clock.now().toISOString();
  const paused = isPaused ? { pausedAt: now } : {};
  const change = { status: 'running', stateReason: null, fault: null, lastActivityAt: now, ...paused } as const;
  const returned = await repository.change(id, ['error'], change, node);
  if (returned !== null) watch.announce(id, returned);
  return returned !== null;
}
