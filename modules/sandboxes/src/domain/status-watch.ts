import type { Sandbox } from './sandbox.ts';

const MAX_WATCHERS = 10_000;

type Watcher = (sandbox: Sandbox | null) => void;

/** Tells those who wait in this process that a sandbox changed; `null` means that it was deleted. */
export class StatusWatch {
  readonly #watchers = new Map<string, Set<Watcher>>();
  #count = 0;

  announce(id: string, sandbox: Sandbox | null): void {
    for (const watcher of this.#watchers.get(id) ?? []) watcher(sandbox);
  }

  /** Answers the function that ends it. Beyond the bound nobody is told, and a waiter falls back to its deadline. */
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

  get size(): number {
    return this.#count;
  }
}
