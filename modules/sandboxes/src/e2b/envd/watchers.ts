import type { Clock } from '@svc/runtime';
import type { FileWatch } from '../../domain/files/file-watch.ts';
import type { SandboxFiles } from '../../domain/files/file-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { pathOf } from './paths.ts';
import type { ChangeMessage, WatchMessage } from './messages/filesystem.ts';
import { assertFolder, describeChanges } from './watch-events.ts';

const MAX_PER_SANDBOX = 16;
const MAX_CHANGES = 10_000;
/** A client that asks no more has gone without a word. */
const KEPT_MS = 10 * 60_000;

interface Watcher {
  readonly sandboxId: string;
  readonly watch: FileWatch;
  changes: ChangeMessage[];
  failure: unknown;
  cancelExpiry: () => void;
}

/** Watches whose changes clients collect by request. They live in this process and end if no client asks. */
export class Watchers {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #watchers = new Map<string, Watcher>();

  constructor(clock: Clock, newId: () => string) {
    this.#clock = clock;
    this.#newId = newId;
  }

  async create(sandboxId: string, files: SandboxFiles, message: WatchMessage): Promise<string> {
    this.#assertRoom(sandboxId);
    const root = pathOf(files, message.path);
    await assertFolder(files, root);
    const watch = await files.watch(root, { recursive: message.recursive });
    const id = this.#newId();
    const watcher: Watcher = { sandboxId, watch, changes: [], failure: null, cancelExpiry: () => undefined };
    this.#watchers.set(id, watcher);
    this.#expireLater(id, watcher);
    void this.#collect(watcher, describeChanges(files, root, message));
    return id;
  }

  /** Returns the changes since the last call. Throws WATCHER_NOT_FOUND. */
  take(sandboxId: string, id: string): readonly ChangeMessage[] {
    const watcher = this.#find(sandboxId, id);
    this.#expireLater(id, watcher);
    const { changes } = watcher;
    watcher.changes = [];
    if (changes.length === 0 && watcher.failure !== null) throw watcher.failure;
    return changes;
  }

  remove(sandboxId: string, id: string): void {
    this.#end(id, this.#find(sandboxId, id));
  }

  close(): void {
    for (const [id, watcher] of this.#watchers) this.#end(id, watcher);
  }

  async #collect(watcher: Watcher, describe: ReturnType<typeof describeChanges>): Promise<void> {
    try {
      for await (const change of watcher.watch.changes()) {
        watcher.changes.push(...(await describe(change)));
        if (watcher.changes.length > MAX_CHANGES) throw sandboxErrors.WATCH_OVERFLOW();
      }
    } catch (error) {
      watcher.failure = error;
      watcher.watch.close();
    }
  }

  #assertRoom(sandboxId: string): void {
    const count = [...this.#watchers.values()].filter((each) => each.sandboxId === sandboxId).length;
    if (count >= MAX_PER_SANDBOX) throw sandboxErrors.TOO_MANY_WATCHES({ details: { limit: MAX_PER_SANDBOX } });
  }

  #find(sandboxId: string, id: string): Watcher {
    const watcher = this.#watchers.get(id);
    if (watcher?.sandboxId !== sandboxId) throw sandboxErrors.WATCHER_NOT_FOUND();
    return watcher;
  }

  #expireLater(id: string, watcher: Watcher): void {
    watcher.cancelExpiry();
    watcher.cancelExpiry = this.#clock.setTimer(() => this.#end(id, watcher), KEPT_MS);
  }

  #end(id: string, watcher: Watcher): void {
    watcher.cancelExpiry();
    watcher.watch.close();
    this.#watchers.delete(id);
  }
}
