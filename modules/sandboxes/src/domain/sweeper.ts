import { BackgroundLoop } from '@svc/runtime';
import type { Boots } from './boots.ts';
import type { SandboxContext } from './context.ts';
import type { TicketRepository } from './ports.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxService } from './sandbox-service.ts';
import type { Supervisor } from './supervisor.ts';

const SWEEP_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;

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

/**
 * Stops idle sandboxes, deletes expired ones, retries failed deletions, and takes up what was left half done when the
 * database was away.
 */
export class Sweeper {
  readonly #context: SandboxContext;
  readonly #service: SandboxService;
  readonly #tickets: TicketRepository;
  readonly #swept: readonly Swept[];
  readonly #repairs: Repairs;
  /** Sandboxes that the last sweep found without a start or a connection. */
  #unattended: ReadonlySet<string> = new Set();
  readonly #loop: BackgroundLoop;

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
    await this.#loop.close();
  }

  async #sweep(): Promise<void> {
    const { repository, node, clock, driver } = this.#context;
    const now = clock.now();
    // While the configured driver is off, only sandboxes of clusters can be served.
    const isServed = ({ cluster }: Pick<Sandbox, 'cluster'>): boolean => cluster !== null || driver.status().available;
    const all = await repository.ofNode(node, ['creating', 'running', 'stopped', 'error']);
    const sandboxes = all.filter(isServed);
    for (const sandbox of sandboxes) {
      if (sandbox.expiresAt !== null && sandbox.expiresAt <= now.toISOString()) {
        await this.#expire(sandbox).catch(this.#logFailure(sandbox.id));
      } else if (sandbox.status === 'running' && this.#isIdle(sandbox, now)) {
        await this.#service.stop(sandbox.workspaceUuid, sandbox.id, 'IDLE_TIMEOUT').catch(this.#logFailure(sandbox.id));
      }
    }
    await this.#repair(sandboxes);
    await this.#repairs.claims.sweep();
    if (this.#service.removalsUnderWay === 0) {
      for (const sandbox of (await repository.removed(node)).filter(isServed)) await this.#service.cleanUp(sandbox);
    }
    for (const each of this.#swept) await each.sweep();
    await this.#tickets.purge(now.toISOString());
    await repository.purgeRepeated(new Date(now.getTime() - IDEMPOTENCY_KEPT_MS).toISOString());
  }

  /** Twice in a row is certain: between its record and its start or connection, a sandbox is unattended for a moment. */
  async #repair(sandboxes: readonly Sandbox[]): Promise<void> {
    const { boots, supervisor } = this.#repairs;
    const unattended = sandboxes.filter(({ id, status }) => {
      return !boots.has(id) && (status === 'creating' || (status === 'running' && !this.#context.live.has(id)));
    });
    const before = this.#unattended;
    this.#unattended = new Set(unattended.map(({ id }) => id));
    for (const { id, status } of unattended.filter((each) => before.has(each.id))) {
      if (status === 'running') supervisor.lost(id);
      else await boots.recover(id).catch(this.#logFailure(id));
    }
  }

  /** Keeps the files of a sandbox that is not deleted, and what can run again. */
  async #expire(sandbox: Sandbox): Promise<void> {
    const { id, workspaceUuid, status, onExpiry, expiresAt } = sandbox;
    if (onExpiry === 'delete' || status === 'error') return this.#service.remove(workspaceUuid, id);
    if (status === 'creating') return; // the next sweep finds it running
    if (status === 'running') {
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
