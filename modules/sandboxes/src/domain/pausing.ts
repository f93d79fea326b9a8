import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Freezes all processes of a running sandbox. Their memory is kept, and the idle timeout stops. Does nothing if it is
 * paused. Throws SANDBOX_NOT_RUNNING, and PAUSE_UNAVAILABLE if the driver cannot freeze.
 */
export async function pause(context: SandboxContext, sandbox: Sandbox): Promise<Sandbox> {
  const { queue, repository, drivers, live, watch, clock, node } = context;
  const { id } = sandbox;
  const driver = drivers.of(sandbox);
  if (driver.lacks?.has('pause') === true) {
    throw sandboxErrors.PAUSE_UNAVAILABLE({ details: { driver: driver.name } });
  }
  return queue.run(id, async () => {
    const current = await running(context, id);
    if (current.pausedAt !== null) return current;
    live.setPaused(id, true); // before the freeze, so that an access during it triggers a resume afterwards
    try {
      await driver.pause(id);
      const paused = await repository.change(id, ['running'], { pausedAt: clock.now().toISOString() }, node);
      if (paused === null) throw sandboxErrors.SANDBOX_NOT_FOUND(); // deleted meanwhile
      watch.announce(id, paused);
      return paused;
    } catch (error) {
      live.setPaused(id, false);
      await driver.resume(id);
      throw error;
    }
  });
}

/**
 * Continues the processes of a paused sandbox. The record is written first: a request waiting for the sandbox is
 * answered at once, and a restarted platform must not find a record that still says paused. Throws SANDBOX_NOT_RUNNING.
 */
export function resume(context: SandboxContext, sandbox: Sandbox): Promise<Sandbox> {
  const { queue, repository, drivers, live, watch, clock, node } = context;
  const { id } = sandbox;
  const driver = drivers.of(sandbox);
  return queue.run(id, async () => {
    const current = await running(context, id);
    if (current.pausedAt === null) return current;
    const change = { pausedAt: null, lastActivityAt: clock.now().toISOString() };
    const resumed = await repository.change(id, ['running'], change, node);
    if (resumed === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
    try {
      await driver.resume(id);
    } catch (error) {
      await repository.change(id, ['running'], { pausedAt: current.pausedAt }, node);
      throw error;
    }
    live.setPaused(id, false);
    watch.announce(id, resumed);
    return resumed;
  });
}

/** Continues a sandbox whose record says that it runs, and that a copy of its files may have left frozen. Never throws. */
export async function thaw({ drivers, log }: SandboxContext, sandbox: Sandbox): Promise<void> {
  const { id, status, pausedAt } = sandbox;
  if (status !== 'running' || pausedAt !== null || drivers.isAway(sandbox)) return;
  const resumed = drivers.of(sandbox).resume(id);
  await resumed.catch((cause: unknown) => log.error({ err: cause, sandbox: id }, 'resume failed'));
}

/** Resumes in the background for an access that does not wait; the sandbox answers once it runs again. */
export async function wake(context: SandboxContext, id: string): Promise<void> {
  try {
    const sandbox = await context.repository.find(id);
    if (sandbox?.status === 'running') await resume(context, sandbox);
  } catch (error) {
    context.live.setPaused(id, true); // the next access tries again
    context.log.error({ err: error, sandbox: id }, 'a paused sandbox could not be resumed');
  }
}

async function running({ repository }: SandboxContext, id: string): Promise<Sandbox> {
  const sandbox = await repository.find(id);
  if (sandbox === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
  if (sandbox.status === 'running') return sandbox;
  throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: sandbox.status } });
}
