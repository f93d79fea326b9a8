import { BackgroundLoop } from '@svc/runtime';
import type { SandboxContext } from './context.ts';
import { pause } from './pausing.ts';

const CHECK_EVERY_MS = 1_000;
/** Interval while only the reserve is left. */
const WATCH_EVERY_MS = 200;
const MiB = 1024 * 1024;
/** Even an idle file system changes slightly. */
const GROWTH_BYTES = MiB;

/**
 * Keeps running sandboxes from using up the disk reserve of the host. Their disks are sparse and grow as they are
 * written. While only the reserve is left, a sandbox whose disk grows is paused. Any access resumes it, so that its
 * owner can delete files; further growth pauses it again.
 */
export class DiskGuard {
  readonly #context: SandboxContext;
  readonly #sizes = new Map<string, number>();
  readonly #loop: BackgroundLoop;
  /** Only the reserve is left. */
  #isShort = false;

  constructor(context: SandboxContext) {
    this.#context = context;
    this.#loop = new BackgroundLoop({
      run: () => this.#check(),
      intervalMs: () => (this.#isShort ? WATCH_EVERY_MS : CHECK_EVERY_MS),
      onError: (error) => context.log.error({ err: error }, 'sandbox disks could not be checked'),
      clock: context.clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #check(): Promise<void> {
    const { disk, repository, node } = this.#context;
    this.#isShort = false; // a failed check does not shorten the interval
    if (await disk.hasRoom(0)) {
      this.#sizes.clear();
      return;
    }
    for (const sandbox of await repository.ofNode(node, ['running'])) {
      if (sandbox.pausedAt === null && (await this.#grows(sandbox.id))) await this.#pause(sandbox);
    }
    this.#isShort = true;
  }

  async #grows(id: string): Promise<boolean> {
    const stats = await this.#context.driver.stats(id).catch(() => null); // it ended meanwhile
    if (stats === null || stats.diskBytes === null) return false;
    const diskBytes = stats.diskBytes + (stats.volumeBytes ?? 0);
    // Compare with the smallest size seen, not the previous one: otherwise a slow writer could use up the reserve.
    const before = Math.min(this.#sizes.get(id) ?? diskBytes, diskBytes);
    const grows = diskBytes - before >= GROWTH_BYTES;
    this.#sizes.set(id, grows ? diskBytes : before);
    return grows;
  }

  async #pause(sandbox: Parameters<typeof pause>[1]): Promise<void> {
    const { log } = this.#context;
    try {
      await pause(this.#context, sandbox);
      log.warn({ sandbox: sandbox.id }, "a sandbox was paused: its disk grew into the host's reserve");
    } catch (error) {
      log.warn({ err: error, sandbox: sandbox.id }, 'a sandbox whose disk grows could not be paused');
    }
  }
}
