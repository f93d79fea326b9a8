import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import type { Sandbox, SandboxStatus } from './sandbox.ts';

/**
 * Resolves once the sandbox is in a state other than `others`, or with its current record when the time is up or the
 * signal aborts. Throws SANDBOX_NOT_FOUND if it is deleted meanwhile.
 */
export async function waitForStatus(
  { watch, repository }: Pick<SandboxContext, 'watch' | 'repository'>,
  sandbox: Sandbox,
  others: readonly SandboxStatus[],
  clock: Clock,
  waitMs: number,
  signal: AbortSignal,
): Promise<Sandbox> {
  if (!others.includes(sandbox.status) || waitMs <= 0 || signal.aborted) return sandbox;
  const { promise, resolve } = Promise.withResolvers<Sandbox | null | undefined>();
  const stopWatching = watch.watch(sandbox.id, (changed) => {
    if (changed === null || !others.includes(changed.status)) resolve(changed);
  });
  const cancelTimer = clock.setTimer(() => resolve(undefined), waitMs);
  const abort = (): void => resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    // It may have changed between the read and the watch.
    const current = await repository.find(sandbox.id);
    if (current !== null && !others.includes(current.status)) return current;
    const changed = current === null ? null : await promise;
    if (changed === undefined) return (await repository.find(sandbox.id)) ?? gone();
    return changed ?? gone();
  } finally {
    stopWatching();
    cancelTimer();
    signal.removeEventListener('abort', abort);
  }
}

function gone(): never {
  throw sandboxErrors.SANDBOX_NOT_FOUND();
}
