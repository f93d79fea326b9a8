import { isAppError, type AppError } from '@svc/errors';
import { isStatusError } from '@svc/kube';
import { sandboxErrors, type CauseCode } from '../../../errors.ts';
import type { StartPlace } from '../../../domain/driver.ts';
import type { PodTrouble, PodView } from './pod-view.ts';
import type { PodWatch } from './pod-watch.ts';

export const NOT_RUNNING = 'it does not run';

export function notRunning(): AppError {
  return sandboxErrors.RUNTIME_FAILED({ details: { reason: NOT_RUNNING } });
}

export function filesGone(pod: PodView | null): AppError {
  const reason = `its files are gone: ${pod?.failure?.reason ?? 'its pod was deleted'}`;
  return sandboxErrors.ROOTFS_FAILED({ details: { reason } });
}

/** A pod that starts, and how long its start may take. */
interface StartingPod {
  readonly name: string;
  readonly image: string;
  readonly signal: AbortSignal;
  readonly place: StartPlace | undefined;
}

/**
 * Resolves once the pod runs. No node may ever have room for it, or only after the cluster has added one, so it waits for
 * that without its place, which the starts of others need.
 */
export async function awaitUp(
  watch: Pick<PodWatch, 'find' | 'until'>,
  { name, image, signal, place }: StartingPod,
): Promise<void> {
  const isSettled = (pod: PodView | null): boolean => pod === null || pod.up || pod.failure !== null;
  const hasNoNode = (pod: PodView | null): boolean => !isSettled(pod) && pod?.pending?.kind === 'room';
  let pod: PodView | null;
  try {
    pod = await watch.until(name, (each) => isSettled(each) || hasNoNode(each), signal);
    if (hasNoNode(pod)) {
      const wait = () => watch.until(name, (each) => !hasNoNode(each), signal);
      await (place === undefined ? wait() : place.leaveFor(wait));
      pod = await watch.until(name, isSettled, signal);
    }
  } catch (error) {
    const pending = watch.find(name)?.pending ?? null;
    throw pending === null ? error : troubleError(pending, image, error);
  }
  if (pod === null) throw filesGone(pod);
  if (pod.failure !== null) throw troubleError(pod.failure, image);
}

function troubleError({ kind, reason }: PodTrouble, image: string, cause?: unknown): AppError {
  switch (kind) {
    case 'image':
      return sandboxErrors.IMAGE_PULL_FAILED({ details: { image, reason }, cause });
    case 'room':
      return sandboxErrors.NO_CAPACITY({ details: { reason }, cause });
    case 'pod':
      return sandboxErrors.ROOTFS_FAILED({ details: { reason }, cause });
  }
}

/** Converts a failure of the Kubernetes API to a module error with `code`, unless it says something more specific. */
export function kubeFailure(error: unknown, code: CauseCode): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  // The API server gives an exceeded quota no reason of its own, only these words.
  if (isStatusError(error, 403) && /exceeded quota/.test(error.message)) {
    return sandboxErrors.NO_CAPACITY({ details: { reason }, cause: error });
  }
  // An error of our own catalogue is already what the caller must learn; the client's own would be unknown to it.
  if (isAppError(error) && error.code in sandboxErrors) return error;
  return sandboxErrors[code]({ details: { reason }, cause: error });
}
