import { agentErrors } from '../errors.ts';

interface Waiting {
  resolve: (release: () => void) => void;
  reject: (error: Error) => void;
}

interface Lock {
  waiting: Waiting | null;
}

/** One deploy at a time per project; a newer waiting one supersedes the older. */
export class ProjectLocks {
  readonly #locks = new Map<string, Lock>();

  /** 0 = free; 1 = one is running. A waiting one does not count, because it would be superseded. */
  position(key: string): number {
    return this.#locks.has(key) ? 1 : 0;
  }

  /** Resolves with the release function. Rejects with SUPERSEDED when a newer one arrives, or when aborted. */
  acquire(key: string, signal: AbortSignal): Promise<() => void> {
    const held = this.#locks.get(key);
    if (held === undefined) {
      const lock: Lock = { waiting: null };
      this.#locks.set(key, lock);
      return Promise.resolve(this.#releaser(key, lock));
    }
    held.waiting?.reject(agentErrors.SUPERSEDED());
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        if (held.waiting === waiting) held.waiting = null;
        reject(signal.reason instanceof Error ? signal.reason : agentErrors.CANCELLED());
      };
      const settle = (action: () => void): void => {
        signal.removeEventListener('abort', abort);
        action();
      };
      const waiting: Waiting = {
        resolve: (release) => settle(() => resolve(release)),
        reject: (error) => settle(() => reject(error)),
      };
      held.waiting = waiting;
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
    });
  }

  #releaser(key: string, lock: Lock): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const { waiting } = lock;
      lock.waiting = null;
      if (waiting === null) this.#locks.delete(key);
      else waiting.resolve(this.#releaser(key, lock));
    };
  }
}
