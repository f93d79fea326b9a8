import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from './context.ts';
import type { SandboxNodes } from './ports.ts';
import type { Sandbox, SandboxFault } from './sandbox.ts';
import type { TerminalPlaces } from './terminal/terminal-places.ts';

const CHECK_EVERY_MS = 5_000;
/** With the interval of the check, a sandbox of a dead node says so within 30 s. */
const LOST_AFTER_MS = 25_000;

const FAULT: SandboxFault = {
  code: 'NODE_LOST',
  message: 'The node of the sandbox does not respond; the sandbox continues if it still runs when the node returns',
  recoverable: true,
};

/**
 * Whether another node may have reported this sandbox as lost, so that it may still run. What its own node lost is not
 * running, or cannot be recovered.
 */
export function isReportedLost({ status, fault }: Pick<Sandbox, 'status' | 'fault'>): boolean {
  return status === 'error' && fault?.code === FAULT.code && fault.recoverable;
}

/**
 * Keeps the records of sandboxes true when nodes die: every node marks the sandboxes of silent nodes as lost, and marks
 * its own as running again if it was only cut off. Several nodes may do so at once: only the first change counts.
 */
export class LostNodes {
  readonly #context: SandboxContext;
  readonly #nodes: Pick<SandboxNodes, 'silent'>;
  readonly #terminals: Pick<TerminalPlaces, 'clear'>;
  readonly #loop: BackgroundLoop;
  /** Nodes whose sandboxes are marked. A silent node gets no new ones. */
  #marked: ReadonlySet<string> = new Set();

  constructor(context: SandboxContext, nodes: Pick<SandboxNodes, 'silent'>, terminals: Pick<TerminalPlaces, 'clear'>) {
    this.#context = context;
    this.#nodes = nodes;
    this.#terminals = terminals;
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
    const silent = (await this.#nodes.silent(LOST_AFTER_MS)).filter((node) => node !== this.#context.node);
    for (const node of silent) if (!this.#marked.has(node)) await this.#mark(node);
    this.#marked = new Set(silent);
    await this.#reclaim();
  }

  async #mark(node: string): Promise<void> {
    const { repository, watch, log } = this.#context;
    await this.#terminals.clear(node); // they ended with the process, and count towards quotas
    let count = 0;
    for (const { id } of await repository.ofNode(node, ['creating', 'running'])) {
      const change = { status: 'error', stateReason: FAULT.code, fault: FAULT } as const;
      const lost = await repository.change(id, ['creating', 'running'], change);
      if (lost === null) continue; // another node was faster
      watch.announce(id, lost);
      count += 1;
    }
    if (count > 0) log.warn({ node, sandboxes: count }, 'a node does not respond; its sandboxes are marked as lost');
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
  { repository, watch, clock }: Pick<SandboxContext, 'repository' | 'watch' | 'clock'>,
  id: string,
  isPaused: boolean,
): Promise<boolean> {
  const now = clock.now().toISOString();
  const paused = isPaused ? { pausedAt: now } : {};
  const change = { status: 'running', stateReason: null, fault: null, lastActivityAt: now, ...paused } as const;
  const returned = await repository.change(id, ['error'], change);
  if (returned !== null) watch.announce(id, returned);
  return returned !== null;
}
