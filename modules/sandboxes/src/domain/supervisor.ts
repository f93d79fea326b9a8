import { toAppError } from '@svc/errors';
import type { SandboxContext } from './context.ts';
import type { DrivenSandbox } from './clusters/cluster-drivers.ts';
import type { Sandbox, SandboxFault } from './sandbox.ts';

/** A killed first process takes a moment to disappear; a missing response in that time proves nothing. */
const RECONNECT_AFTER_MS = [50, 200, 1_000] as const;
const RECONNECT_LIMIT_MS = 5_000;

/** Determines what happened to a running sandbox whose connection ended, and updates its record. */
export class Supervisor {
  readonly #context: () => SandboxContext;
  readonly #pending = new Set<Promise<void>>();

  /** Takes a function, because the context includes the connections that report here. */
  constructor(context: () => SandboxContext) {
    this.#context = context;
  }

  lost(id: string): void {
    const { queue, log } = this.#context();
    const work = queue
      .run(id, () => this.#check(id))
      .catch((error: unknown) => log.error({ err: error, sandbox: id }, 'a lost sandbox could not be recovered'))
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  async close(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #check(id: string): Promise<void> {
    const { repository, drivers, live, log } = this.#context();
    const sandbox = await repository.find(id);
    if (sandbox?.status !== 'running' || live.has(id)) return;
    const driver = drivers.of(sandbox);
    if (!driver.status().available) return; // shutting down, or its cluster is away; its return adopts it
    let condition = await driver.inspect(id);
    for (const delayMs of RECONNECT_AFTER_MS) {
      if (!condition.running || (await this.reconnect(sandbox))) break;
      await this.#wait(delayMs);
      condition = await driver.inspect(id);
    }
    if (live.has(id) || drivers.isAway(sandbox)) return;
    const fault: SandboxFault = condition.running
      ? { code: 'AGENT_TIMEOUT', message: 'The sandbox no longer responds', recoverable: true }
      : condition.outOfMemory
        ? { code: 'OOM_KILLED', message: 'The sandbox ran out of memory', recoverable: true }
        : { code: 'INIT_CRASHED', message: 'The first process of the sandbox ended unexpectedly', recoverable: true };
    log.warn({ sandbox: id, code: fault.code }, 'sandbox failed');
    await this.fail(sandbox, fault);
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#context().clock.setTimer(resolve, delayMs));
  }

  /** Adopts the connection on success. A paused sandbox is resumed briefly, because it could not respond otherwise. */
  async reconnect(sandbox: DrivenSandbox & Pick<Sandbox, 'pausedAt'>): Promise<boolean> {
    const { drivers, live, clock, log } = this.#context();
    const { id, pausedAt } = sandbox;
    const driver = drivers.of(sandbox);
    const limit = new AbortController();
    const cancel = clock.setTimer(() => limit.abort(), RECONNECT_LIMIT_MS);
    try {
      if (pausedAt !== null) await driver.resume(id);
      const connection = await driver.connect(id, limit.signal);
      live.adopt(sandbox, connection);
      if (pausedAt !== null) {
        live.setPaused(id, true);
        await driver.pause(id);
      }
      return true;
    } catch (error) {
      log.warn({ err: toAppError(error), sandbox: id }, 'sandbox does not respond');
      return false;
    } finally {
      cancel();
    }
  }

  /** Moves a sandbox from `running` or `creating` to `error`. Frees its resources; its files stay. */
  async fail(sandbox: DrivenSandbox, fault: SandboxFault): Promise<void> {
    const { repository, stops, watch, node } = this.#context();
    const { id } = sandbox;
    stops.add(sandbox);
    const change = { status: 'error', stateReason: fault.code, fault } as const;
    const failed = await repository.change(id, ['running', 'creating'], change, node);
    if (failed !== null) watch.announce(id, failed);
    await stops.stop(sandbox, 0);
  }
}
