import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from '../context.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { SandboxNotice } from '../notice.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { SnapshotService } from '../snapshots/snapshot-service.ts';
import { DRAINED, DRAINING, MOVING } from './drain-state.ts';
import type { NodeRepository } from './sandbox-node.ts';

/** A wake applies a change at once; this interval picks up missed changes and retries failures. */
const CHECK_EVERY_MS = 5_000;
/** Stops at once. Each may wait for processes that end slowly, but loads the machine little. */
const PARALLEL_STOPS = 8;
/** After this many failures, a sandbox stays stopped without a snapshot. Its files are kept in any case. */
const MAX_SNAPSHOT_ATTEMPTS = 3;

export interface NodeDrainerDeps {
  readonly context: SandboxContext;
  readonly nodes: Pick<NodeRepository, 'findDrain'>;
  readonly service: Pick<SandboxService, 'stop'>;
  readonly snapshots: Pick<SnapshotService, 'createForDrain' | 'prepareMove'>;
  /** Tells the clients of running commands and terminals of a sandbox. */
  readonly notify: (id: string, notice: SandboxNotice) => void;
  readonly recorder: Pick<EventRecorder, 'record'>;
  /** Time between the notice to sandboxes and their stop. */
  readonly noticeMs: number;
}

/**
 * Empties this node while an operator drains it: gives each running sandbox notice, then stops it, and takes a snapshot
 * or leaves it to another node if its owner chose that. Everything that it continues with is in the database, so a restart resumes it.
 */
export class NodeDrainer {
  readonly #deps: NodeDrainerDeps;
  readonly #loop: BackgroundLoop;
  /** Sandboxes that have had their notice. After a restart, they get another one. */
  readonly #notified = new Set<string>();
  readonly #failures = new Map<string, number>();
  #nextCheckMs = CHECK_EVERY_MS;

  constructor(deps: NodeDrainerDeps) {
    const { clock, log } = deps.context;
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: (signal) => this.#run(signal),
      intervalMs: () => this.#nextCheckMs,
      runsAtStart: true,
      onError: (error) => log.error({ err: error }, 'the drain of this node could not be continued'),
      clock,
    });
  }

  /** Reads whether this node is drained. Call it before the node can take sandboxes. */
  async refresh(): Promise<void> {
    const { context, nodes } = this.#deps;
    context.drain.set((await nodes.findDrain(context.node)) !== null);
  }

  /** Needs a driver that is open. */
  start(): void {
    this.#loop.start();
  }

  /** Looks now whether a drain begins or ends. */
  wake(): void {
    this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { context, nodes, noticeMs } = this.#deps;
    const { repository, drain, node } = context;
    this.#nextCheckMs = CHECK_EVERY_MS;
    const request = await nodes.findDrain(node);
    drain.set(request !== null);
    if (request === null) {
      this.#notified.clear();
      this.#failures.clear();
      return;
    }
    // Those of clusters do not run here: they follow the tunnel of their cluster when this replica stops.
    const sandboxes = (await repository.ofNode(node, ['creating', 'running'])).filter(
      ({ cluster }) => cluster === null,
    );
    const leftMs = Math.max(0, noticeMs - request.elapsedMs);
    for (const sandbox of sandboxes) this.#notify(sandbox, leftMs);
    if (leftMs > 0) {
      this.#nextCheckMs = Math.min(CHECK_EVERY_MS, leftMs);
      return;
    }
    await inParallel(sandboxes, signal, (sandbox) => this.#stop(sandbox));
    const stopped = await repository.ofNode(node, ['stopped']);
    const unfinished = stopped.filter(({ stateReason }) => stateReason === DRAINING);
    await inParallel(unfinished, signal, (sandbox) => this.#finish(sandbox));
  }

  #notify(sandbox: Sandbox, leftMs: number): void {
    const { context, notify, recorder } = this.#deps;
    if (sandbox.status !== 'running' || this.#notified.has(sandbox.id)) return;
    this.#notified.add(sandbox.id);
    const stopsAt = new Date(context.clock.nowMs() + leftMs).toISOString();
    recorder.record(sandbox, { type: 'draining', details: { on_drain: sandbox.onDrain, stops_at: stopsAt } });
    notify(sandbox.id, {
      code: 'NODE_DRAINING',
      message: `The node of this sandbox is being drained: the sandbox stops at ${stopsAt}`,
      stopsAt,
    });
  }

  async #stop({ id, workspaceUuid }: Sandbox): Promise<void> {
    const { context, service } = this.#deps;
    try {
      await service.stop(workspaceUuid, id, DRAINING);
      context.log.info({ sandbox: id }, 'a sandbox was stopped, because its node is drained');
    } catch (error) {
      context.log.warn({ err: error, sandbox: id }, 'a sandbox could not be stopped for a drain yet');
    }
  }

  async #finish(sandbox: Sandbox): Promise<void> {
    const { repository, watch, node } = this.#deps.context;
    const { id, onDrain, startedAt } = sandbox;
    if (!(await this.#isStopped(sandbox))) return;
    // One that never ran has no files to copy.
    const copied = onDrain === 'stop' || startedAt === null ? 'given_up' : await this.#copy(sandbox);
    if (copied === 'unfinished') return;
    const stateReason = onDrain === 'move' && copied === 'done' ? MOVING : DRAINED;
    const done = await repository.change(id, ['stopped'], { stateReason }, node);
    if (done !== null) watch.announce(id, done);
  }

  /** Its record may say stopped while its processes run on, because the driver failed. */
  async #isStopped(sandbox: Sandbox): Promise<boolean> {
    const { stops, log } = this.#deps.context;
    try {
      await stops.finish(sandbox);
      return !stops.has(sandbox.id);
    } catch (error) {
      log.warn({ err: error, sandbox: sandbox.id }, 'a sandbox could not be stopped for a drain yet');
      return false;
    }
  }

  async #copy(sandbox: Sandbox): Promise<'done' | 'given_up' | 'unfinished'> {
    const { context, snapshots, recorder } = this.#deps;
    const { id } = sandbox;
    try {
      // A failed archive is tried again without end: until there is one, only this node has the files.
      if (sandbox.onDrain === 'move') return (await snapshots.prepareMove(sandbox)) ? 'done' : 'unfinished';
      await snapshots.createForDrain(sandbox);
      return 'done';
    } catch (error) {
      const failures = (this.#failures.get(id) ?? 0) + 1;
      this.#failures.set(id, failures);
      context.log.warn({ err: error, sandbox: id, failures }, 'a snapshot could not be taken for a drain');
      if (failures < MAX_SNAPSHOT_ATTEMPTS) return 'unfinished';
      const message = error instanceof Error ? error.message.slice(0, 1000) : 'unknown';
      recorder.record(sandbox, { type: 'snapshot_failed', details: { message } });
      return 'given_up';
    }
  }
}

/** Works on all items, a few at a time. Begins no further one after the signal. */
async function inParallel<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (signal.aborted) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_STOPS }, worker));
}
