import type { AgentConnection } from './helper/agent-connection.ts';

/** Activity is written down at most this often for each sandbox. */
const TOUCH_EVERY_MS = 10_000;

interface LiveSandbox {
  readonly connection: AgentConnection;
  /** Terminals, commands and transfers that are open now. */
  activities: number;
  /** Exact, while what is written down lags behind. */
  activeAtMs: number;
  touchedAtMs: number;
  paused: boolean;
}

/** The connections to the sandboxes that run on this node, and whether anything goes on in them. */
export class LiveSandboxes {
  readonly #live = new Map<string, LiveSandbox>();
  readonly #lost: (id: string) => void;
  readonly #touch: (id: string, atMs: number) => void;
  readonly #wake: (id: string) => void;
  readonly #nowMs: () => number;

  /**
   * `lost` is called when a connection ends that nobody released; `touch` when there was activity; `wake` when a paused
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

  /** `writtenAtMs`: when its record was written last, which counts as activity that is written down. */
  adopt(id: string, connection: AgentConnection, writtenAtMs = 0): void {
    const entry: LiveSandbox = { connection, activities: 0, activeAtMs: 0, touchedAtMs: writtenAtMs, paused: false };
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

  /** A paused sandbox goes on: what is sent to it meanwhile waits in its socket. */
  use(id: string): void {
    const entry = this.#live.get(id);
    if (entry === undefined || !entry.paused) return;
    entry.paused = false; // once is enough
    this.#wake(id);
  }

  /** Whoever asks for it is about to use the sandbox. */
  connectionOf(id: string): AgentConnection | null {
    this.use(id);
    return this.#live.get(id)?.connection ?? null;
  }

  /** Something begins that keeps the sandbox from being idle; the answer ends it. */
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
      this.active(id, this.#nowMs()); // its idle time begins now
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

  /** When something went on in it last, as this process saw it; 0 when it saw nothing. */
  activeAtMs(id: string): number {
    return this.#live.get(id)?.activeAtMs ?? 0;
  }

  isBusy(id: string): boolean {
    return (this.#live.get(id)?.activities ?? 0) > 0;
  }

  /** Ends the connection on purpose: nothing is reported as lost. */
  async release(id: string): Promise<void> {
    const entry = this.#live.get(id);
    this.#live.delete(id);
    await entry?.connection.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((id) => this.release(id)));
  }

  /** For those who only look: no paused sandbox goes on for it. */
  get connections(): readonly AgentConnection[] {
    return [...this.#live.values()].map(({ connection }) => connection);
  }

  get ids(): readonly string[] {
    return [...this.#live.keys()];
  }

  get size(): number {
    return this.#live.size;
  }
}
