import { BackgroundLoop, FairSlots, KeyedQueue } from '@svc/runtime';
import type { Boots } from './boots.ts';
import type { DrivenSandbox } from './clusters/cluster-drivers.ts';
import type { SandboxContext } from './context.ts';
import type { TicketRepository } from './ports.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxService } from './sandbox-service.ts';
import type { Supervisor } from './supervisor.ts';

const SWEEP_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;
/** Concurrent stops and pauses on this node; one owner can use half of them. Each cluster adds one for its own. */
const PARALLEL_HERE = 8;
/** Of these, one sandbox each waits for its turn. Those of others wait for the next sweep. */
const MAX_WORKSPACES = 65_536;

/** Further cleanup that runs with each sweep. */
export interface Swept {
  sweep(): Promise<void>;
}

/** What brings a record in line with its sandbox. */
export interface Repairs {
  readonly boots: Pick<Boots, 'has' | 'recover'>;
  readonly supervisor: Pick<Supervisor, 'lost'>;
  readonly claims: Swept;
}

/** What a sweep does for one cluster, or for one workspace on this node. */
interface Part {
  readonly key: string;
  readonly clusterId: string | null;
  readonly workspaceUuid: string;
  readonly sandboxes: Sandbox[];
  readonly removed: DrivenSandbox[];
  /** Their programs may run although their records say otherwise. */
  readonly unstopped: DrivenSandbox[];
}

/**
 * Stops idle sandboxes, deletes expired ones, retries failed stops and deletions, and takes up what was left half done when the
 * database was away. Clusters and workspaces are swept side by side, each on its own and one sandbox at a time, so that
 * those that take long delay no others.
 */
export class Sweeper {
  readonly #context: SandboxContext;
  readonly #service: SandboxService;
  readonly #tickets: TicketRepository;
  readonly #swept: readonly Swept[];
  readonly #repairs: Repairs;
  /** Sandboxes that the last sweep found without a start or a connection. */
  readonly #unattended = new Set<string>();
  /** Parts that are being swept. */
  readonly #parts = new KeyedQueue();
  readonly #here: FairSlots;
  readonly #loop: BackgroundLoop;
  #isClosing = false;

  constructor(
    context: SandboxContext,
    service: SandboxService,
    tickets: TicketRepository,
    swept: readonly Swept[],
    repairs: Repairs,
  ) {
    this.#context = context;
    this.#repairs = repairs;
    this.#service = service;
    this.#tickets = tickets;
    this.#swept = swept;
    this.#here = new FairSlots({
      capacity: PARALLEL_HERE,
      capacityPerGroup: PARALLEL_HERE / 2,
      groupOf: context.quotaLimits.shareOf,
      maxWaiting: MAX_WORKSPACES,
      refuse: () => new Error('too many workspaces are swept'),
    });
    this.#loop = new BackgroundLoop({
      run: () => this.#sweep(),
      intervalMs: SWEEP_EVERY_MS,
      onError: (error) => context.log.error({ err: error }, 'the sweep of sandboxes failed'),
      clock: context.clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#loop.close();
    await this.#parts.idle();
  }

  async #sweep(): Promise<void> {
    const { repository, node, clock } = this.#context;
    const now = clock.now();
    const all = await repository.ofNode(node, ['creating', 'running', 'stopped', 'error']);
    const known = new Set(all.map(({ id }) => id));
    for (const id of this.#unattended) if (!known.has(id)) this.#unattended.delete(id);
    for (const part of this.#partsOf(all, await repository.removed(node))) this.#follow(part, now);
    await this.#repairs.claims.sweep();
    for (const each of this.#swept) await each.sweep();
    await this.#tickets.purge(now.toISOString());
    await repository.purgeRepeated(new Date(now.getTime() - IDEMPOTENCY_KEPT_MS).toISOString());
  }

  #partsOf(sandboxes: readonly Sandbox[], removed: readonly DrivenSandbox[]): Iterable<Part> {
    const isAvailable = this.#context.driver.status().available;
    const parts = new Map<string, Part>();
    const partOf = ({ cluster, workspaceUuid }: DrivenSandbox): Part | null => {
      if (cluster === null && !isAvailable) return null; // only sandboxes of clusters can be served
      const clusterId = cluster?.id ?? null;
      const key = clusterId ?? workspaceUuid;
      const part = parts.get(key) ?? { key, clusterId, workspaceUuid, sandboxes: [], removed: [], unstopped: [] };
      parts.set(key, part);
      return part;
    };
    for (const sandbox of sandboxes) partOf(sandbox)?.sandboxes.push(sandbox);
    for (const sandbox of removed) partOf(sandbox)?.removed.push(sandbox);
    for (const sandbox of this.#context.stops.sandboxes) partOf(sandbox)?.unstopped.push(sandbox);
    return parts.values();
  }

  /** Sweeps the part in the background, unless it is still being swept. */
  #follow(part: Part, now: Date): void {
    const { log } = this.#context;
    if (this.#parts.has(part.key)) return;
    this.#parts
      .run(part.key, () => this.#sweepPart(part, now))
      .catch((error: unknown) => log.error({ err: error, part: part.key }, 'sandboxes could not be swept'));
  }

  async #sweepPart({ clusterId, workspaceUuid, sandboxes, removed, unstopped }: Part, now: Date): Promise<void> {
    const { queue, stops } = this.#context;
    const run = (id: string, work: () => Promise<unknown>): Promise<unknown> =>
      (clusterId === null ? this.#here.run(workspaceUuid, work) : work()).catch(this.#logFailure(id));
    for (const sandbox of unstopped) {
      if (this.#isClosing) return;
      // A stop or a copy that is under way may take long; a later sweep looks again.
      if (!queue.has(sandbox.id)) await run(sandbox.id, () => stops.finish(sandbox));
    }
    for (const sandbox of sandboxes) {
      if (this.#isClosing) return;
      const { id, expiresAt, status } = sandbox;
      if (expiresAt !== null && expiresAt <= now.toISOString()) await run(id, () => this.#expire(sandbox));
      else if (status === 'running' && this.#isIdle(sandbox, now))
        await run(id, () => this.#service.stop(workspaceUuid, id, 'IDLE_TIMEOUT'));
    }
    for (const { id, status } of this.#leftBehind(sandboxes)) {
      if (status === 'running') this.#repairs.supervisor.lost(id);
      else await run(id, () => this.#repairs.boots.recover(id));
    }
    for (const sandbox of removed) {
      if (this.#isClosing) return;
      if (!this.#service.isRemoving(sandbox.id)) await this.#service.cleanUp(sandbox);
    }
  }

  /**
   * Sandboxes without a start or connection in two sweeps in a row. Once is not certain: between its record and its start or
   * connection, a sandbox is unattended for a moment.
   */
  #leftBehind(sandboxes: readonly Sandbox[]): readonly Sandbox[] {
    const { boots } = this.#repairs;
    return sandboxes.filter(({ id, status }) => {
      const isUnattended =
        !boots.has(id) && (status === 'creating' || (status === 'running' && !this.#context.live.has(id)));
      const wasUnattended = this.#unattended.has(id);
      if (isUnattended) this.#unattended.add(id);
      else this.#unattended.delete(id);
      return isUnattended && wasUnattended;
    });
  }

  /** Keeps the files of a sandbox that is not deleted, and what can run again. */
  async #expire(sandbox: Sandbox): Promise<void> {
    const { id, workspaceUuid, status, onExpiry, expiresAt } = sandbox;
    if (onExpiry === 'delete' || status === 'error') return this.#service.remove(workspaceUuid, id);
    if (status === 'creating') return; // the next sweep finds it running
    if (status === 'running') {
      // A pause would keep all others waiting for the snapshot; a later sweep does it.
      if (onExpiry === 'pause' && this.#context.takes.has(id)) return;
      const kept =
        onExpiry === 'pause'
          ? await this.#service.pause(workspaceUuid, id)
          : await this.#service.stop(workspaceUuid, id, 'EXPIRED', expiresAt);
      // Its time was extended meanwhile: continue.
      if (kept.expiresAt !== expiresAt) return void (await this.#service.start(workspaceUuid, id, 0, NEVER));
    }
    // A client may have continued it meanwhile, until another time.
    const current = await this.#service.get(workspaceUuid, id);
    if (current.expiresAt === expiresAt) await this.#service.change(workspaceUuid, id, { expiresAt: null });
  }

  #isIdle(sandbox: Sandbox, now: Date): boolean {
    // A pause is intentional: idle time does not count.
    if (sandbox.idleTimeoutSeconds === null || sandbox.pausedAt !== null || this.#context.live.isBusy(sandbox.id))
      return false;
    const activeAtMs = Math.max(Date.parse(sandbox.lastActivityAt), this.#context.live.activeAtMs(sandbox.id));
    return activeAtMs + sandbox.idleTimeoutSeconds * 1000 <= now.getTime();
  }

  /** Logs a failure, so that it does not keep the others from being swept. */
  #logFailure(id: string): (error: unknown) => void {
    return (error) => this.#context.log.warn({ err: error, sandbox: id }, 'a sandbox could not be swept');
  }
}
