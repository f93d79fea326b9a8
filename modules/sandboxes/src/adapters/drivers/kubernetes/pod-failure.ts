import { isAppError, type AppError } from '@svc/errors';
import { isStatusError } from '@svc/kube';
import { sandboxErrors, type CauseCode } from '../../../errors.ts';
import type { PodTrouble, PodView } from './pod-view.ts';

export const NOT_RUNNING = 'it does not run';

export function notRunning(): AppError {
  return sandboxErrors.RUNTIME_FAILED({ details: { reason: NOT_RUNNING } });
}

export function filesGone(pod: PodView | null): AppError {
  const reason = `its files are gone: ${pod?.failure?.reason ?? 'its pod was deleted'}`;
  return sandboxErrors.ROOTFS_FAILED({ details: { reason } });
}

export function troubleError({ kind, reason }: PodTrouble, image: string, cause?: unknown): AppError {
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
