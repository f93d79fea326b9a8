import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import type { Effects } from './ports.ts';
import type { Sandbox, SandboxStatus } from './sandbox.ts';

/**
 * Answers as soon as the sandbox is in a state other than those, else what it is when the time is over or the signal
 * aborts. Throws SANDBOX_NOT_FOUND when it is deleted meanwhile.
 */
export async function waitForStatus(
  { watch, repository }: Pick<SandboxContext, 'watch' | 'repository'>,
  sandbox: Sandbox,
  others: readonly SandboxStatus[],
  effects: Effects,
  waitMs: number,
  signal: AbortSignal,
): Promise<Sandbox> {
  if (!others.includes(sandbox.status) || waitMs <= 0 || signal.aborted) return sandbox;
  const { promise, resolve } = Promise.withResolvers<Sandbox | null | undefined>();
  const stopWatching = watch.watch(sandbox.id, (changed) => {
    if (changed === null || !others.includes(changed.status)) resolve(changed);
  });
  const cancelTimer = effects.setTimer(() => resolve(undefined), waitMs);
  const abort = (): void => resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    // It may have changed between the read and the watch; another replica's changes are seen at the end only.
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
