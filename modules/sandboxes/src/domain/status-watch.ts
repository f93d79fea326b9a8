import type { Sandbox } from './sandbox.ts';

const MAX_WATCHERS = 10_000;

type Watcher = (sandbox: Sandbox | null) => void;

/** Notifies waiters in this process when a sandbox changes here or at another replica; `null` means that it was deleted. */
export class StatusWatch {
  readonly #watchers = new Map<string, Set<Watcher>>();
  #count = 0;

  announce(id: string, sandbox: Sandbox | null): void {
    for (const watcher of this.#watchers.get(id) ?? []) watcher(sandbox);
  }

  /**
   * Returns the function that stops watching. Above the limit, watchers are not notified and fall back to their
   * deadline.
   */
  watch(id: string, watcher: Watcher): () => void {
    if (this.#count >= MAX_WATCHERS) return () => undefined;
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers);
    watchers.add(watcher);
    this.#count += 1;
    return () => {
      if (!watchers.delete(watcher)) return;
      this.#count -= 1;
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  isWatched(id: string): boolean {
    return this.#watchers.has(id);
  }

  watched(): string[] {
    return [...this.#watchers.keys()];
  }

  get size(): number {
    return this.#count;
  }
}
