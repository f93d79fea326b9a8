import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from './context.ts';
import type { TicketRepository } from './ports.ts';
import type { Sandbox } from './sandbox.ts';
import type { SandboxService } from './sandbox-service.ts';

const SWEEP_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;
const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;

/** Further cleanup that runs with each sweep. */
export interface Swept {
  sweep(): Promise<void>;
}

/** Stops idle sandboxes, deletes expired ones, and retries failed deletions. */
export class Sweeper {
  readonly #context: SandboxContext;
  readonly #service: SandboxService;
  readonly #tickets: TicketRepository;
  readonly #swept: readonly Swept[];
  readonly #loop: BackgroundLoop;

  constructor(context: SandboxContext, service: SandboxService, tickets: TicketRepository, swept: readonly Swept[]) {
    this.#context = context;
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
    const { repository, node, clock } = this.#context;
    const now = clock.now();
    for (const sandbox of await repository.ofNode(node, ['creating', 'running', 'stopped', 'error'])) {
      if (sandbox.expiresAt !== null && sandbox.expiresAt <= now.toISOString()) {
        await this.#expire(sandbox).catch(this.#logFailure(sandbox.id));
      } else if (sandbox.status === 'running' && this.#isIdle(sandbox, now)) {
        await this.#service.stop(sandbox.workspaceUuid, sandbox.id, 'IDLE_TIMEOUT').catch(this.#logFailure(sandbox.id));
      }
    }
    if (this.#service.removalsUnderWay === 0) {
      for (const id of await repository.removed(node)) await this.#service.cleanUp(id);
    }
    for (const each of this.#swept) await each.sweep();
    await this.#tickets.purge(now.toISOString());
    await repository.purgeRepeated(new Date(now.getTime() - IDEMPOTENCY_KEPT_MS).toISOString());
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
    if (current.expiresAt === expiresAt) await this.#service.setExpiry(workspaceUuid, id, null);
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
