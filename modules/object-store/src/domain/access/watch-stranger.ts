import { randomUUID } from 'node:crypto';
import type { HeldRights } from '@svc/access';
import { isAppError } from '@svc/errors';

/** A transfer of a client that the bucket lets in, and no key of the bucket's workspace. */
export interface StrangersTransfer {
  /** Decides again, as at the beginning. Throws as it did then. */
  decide(): Promise<unknown>;
  end(): void;
}

/** The transfer goes on if its object was deleted meanwhile: that takes no right away. */
const NAME_IS_GONE: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed']);

/**
 * Ends the transfer when policy, ACL or settings of the bucket no longer allow it, or the bucket is gone. The returned
 * function ends the watch. Requests differ in what policies ask about, so that each is decided by itself.
 */
export function watchStranger(strangers: HeldRights, { decide, end }: StrangersTransfer): () => void {
  const key = randomUUID();
  const check = async (): Promise<void> => {
    try {
      await decide();
    } catch (error) {
      if (!isAppError(error) || !NAME_IS_GONE.has(error.code)) throw error;
    }
  };
  return strangers.hold({ key, exactKey: key, confirmedAtMs: strangers.now().getTime(), check }, end);
}
