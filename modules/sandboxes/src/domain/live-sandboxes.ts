import type { HelperConnection } from './helper/helper-connection.ts';
import type { Sandbox } from './sandbox.ts';

/** Minimum interval between writes of a sandbox's last activity. */
const TOUCH_EVERY_MS = 10_000;

/** What an open connection is counted by. */
export type AdoptedSandbox = Pick<Sandbox, 'id' | 'workspaceUuid' | 'cluster'>;

interface LiveSandbox {
  readonly workspaceUuid: string;
  /** Whether it runs on this node, and not in a connected cluster. */
  readonly isHere: boolean;
  readonly connection: HelperConnection;
  /** Open terminals, commands and transfers. */
  activities: number;
  /** Exact; the stored time lags behind. */
  activeAtMs: number;
  touchedAtMs: number;
  paused: boolean;
}

/** Connections to the sandboxes running on this node, and their activity. */
export class LiveSandboxes {
  readonly #live = new Map<string, LiveSandbox>();
  readonly #lost: (id: string) => void;
  readonly #touch: (id: string, atMs: number) => void;
  readonly #wake: (id: string) => void;
  readonly #nowMs: () => number;

  /**
   * `lost` is called when a connection ends without a release, `touch` when there was activity, `wake` when a paused
   * sandbox is used.
   */
  constructor(
    lost: (id: string) => void,
    touch: (id: string, atMs: number) => void,
    wake: (id: string) => void,
    nowMs: () => number,
  ) {
    this.#lost = lost;
    this.#touch = touch;
    this.#wake = wake;
    this.#nowMs = nowMs;
  }

  /** `writtenAtMs`: when the record was last written, which counts as stored activity. */
  adopt({ id, workspaceUuid, cluster }: AdoptedSandbox, connection: HelperConnection, writtenAtMs = 0): void {
    const entry: LiveSandbox = {
      workspaceUuid,
      isHere: cluster === null,
      connection,
      activities: 0,
      activeAtMs: 0,
      touchedAtMs: writtenAtMs,
      paused: false,
    };
    this.#live.set(id, entry);
    void connection.closed.then(() => {
      if (this.#live.get(id) !== entry) return;
      this.#live.delete(id);
      this.#lost(id);
    });
  }

  has(id: string): boolean {
    return this.#live.has(id);
  }

  setPaused(id: string, paused: boolean): void {
    const entry = this.#live.get(id);
    if (entry !== undefined) entry.paused = paused;
  }

  isPaused(id: string): boolean {
    return this.#live.get(id)?.paused ?? false;
  }

  /** Resumes a paused sandbox. Data sent to it meanwhile waits in its socket. */
  use(id: string): void {
    const entry = this.#live.get(id);
    if (entry === undefined || !entry.paused) return;
    entry.paused = false; // once is enough
    this.#wake(id);
  }

  /** Returns the connection for a caller about to use the sandbox, so it resumes a paused one. */
  findConnection(id: string): HelperConnection | null {
    this.use(id);
    return this.#live.get(id)?.connection ?? null;
  }

  /** Begins an activity that keeps the sandbox from being idle; call the returned function to end it. */
  begin(id: string, nowMs: number): () => void {
    const entry = this.#live.get(id);
    if (entry === undefined) return () => undefined;
    entry.activities += 1;
    this.active(id, nowMs);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      entry.activities -= 1;
      this.active(id, this.#nowMs()); // idle time starts now
    };
  }

  active(id: string, nowMs: number): void {
    const entry = this.#live.get(id);
    if (entry === undefined) return;
    entry.activeAtMs = nowMs;
    if (nowMs - entry.touchedAtMs < TOUCH_EVERY_MS) return;
    entry.touchedAtMs = nowMs;
    this.#touch(id, nowMs);
  }

  /** Time of the last activity that this process saw; 0 if none. */
  activeAtMs(id: string): number {
    return this.#live.get(id)?.activeAtMs ?? 0;
  }

  isBusy(id: string): boolean {
    return (this.#live.get(id)?.activities ?? 0) > 0;
  }

  /** Ends the connection on purpose; not reported as lost. */
  async release(id: string): Promise<void> {
    const entry = this.#live.get(id);
    this.#live.delete(id);
    await entry?.connection.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((id) => this.release(id)));
  }

  /** For observers: does not resume paused sandboxes. */
  get connections(): readonly HelperConnection[] {
    return [...this.#live.values()].map(({ connection }) => connection);
  }

  get ids(): readonly string[] {
    return [...this.#live.keys()];
  }

  /** Number of sandboxes of these workspaces that run on this node itself. */
  countHere(includes: (workspaceUuid: string) => boolean): number {
    return [...this.#live.values()].filter(({ isHere, workspaceUuid }) => isHere && includes(workspaceUuid)).length;
  }

  get size(): number {
    return this.#live.size;
  }
}
