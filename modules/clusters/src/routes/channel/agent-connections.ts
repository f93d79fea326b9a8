import { CLOSE_CODES, type CloseCode } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { AgentSession } from './agent-session.ts';

/** Number of waves in which agents are disconnected, so that they do not all reconnect at once. */
const WAVES = 10;
const SMALLEST_WAVE = 50;

/** The connections of this replica: the newest one of each cluster. */
export class AgentConnections {
  readonly #sessions = new Map<string, AgentSession>();
  readonly #clock: Clock;
  /** Sessions whose socket is open or whose last message is still being written. */
  readonly #alive = new Set<AgentSession>();
  readonly #endings = new Set<Promise<void>>();
  #draining = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get draining(): boolean {
    return this.#draining;
  }

  get count(): number {
    return this.#sessions.size;
  }

  isConnected(clusterId: string): boolean {
    return this.#sessions.has(clusterId);
  }

  /** Keeps the connection with the higher epoch, whichever is added first. */
  add(session: AgentSession): void {
    this.#alive.add(session);
    const { clusterId, epoch } = session.connection;
    const other = this.#sessions.get(clusterId);
    if (this.#draining) {
      void session.connection.close(CLOSE_CODES.draining, 'the platform is shutting down');
      return;
    }
    if (other !== undefined && other.connection.epoch > epoch) {
      void session.connection.close(CLOSE_CODES.replaced, 'a newer connection of this cluster is open');
      return;
    }
    this.#sessions.set(clusterId, session);
    if (other !== undefined) {
      other.connection.supersede();
    }
  }

  remove(session: AgentSession): void {
    this.#alive.delete(session);
    const { clusterId } = session.connection;
    if (this.#sessions.get(clusterId) === session) this.#sessions.delete(clusterId);
  }

  /** The current session of each cluster at this replica. */
  newest(): AgentSession[] {
    return [...this.#sessions.values()];
  }

  /** Closes those of `held` whose cluster has a newer connection at another replica. */
  keepOnly(held: readonly AgentSession[], epochs: ReadonlyMap<string, number>): void {
    for (const { connection } of held) {
      if (epochs.get(connection.clusterId) === connection.epoch) continue;
      connection.supersede();
    }
  }

  /** Tracks the pending writes of a closed session. */
  track(ending: Promise<void>): void {
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }

  closeCluster(clusterId: string, code: CloseCode, reason: string): void {
    void this.#sessions.get(clusterId)?.connection.close(code, reason);
  }

  /** Closes connections opened with a revoked token. */
  closeTokens(hashes: ReadonlySet<string>, clusterId?: string): void {
    for (const session of this.#sessions.values()) {
      const { connection } = session;
      if (clusterId !== undefined && connection.clusterId !== clusterId) continue;
      if (hashes.has(connection.tokenHash)) void connection.close(CLOSE_CODES.unauthorized, 'the token was revoked');
    }
  }

  /** Closes the cluster's connection unless it was opened with this token. */
  closeOtherTokens(clusterId: string, keptHash: string): void {
    const connection = this.#sessions.get(clusterId)?.connection;
    if (connection === undefined || connection.tokenHash === keptHash) return;
    void connection.close(CLOSE_CODES.unauthorized, 'the token was rotated');
  }

  /**
   * Over the first half of `overMs`, asks the agents in waves to reconnect elsewhere; each leaves once it has done so.
   * Over the second half, closes the remaining ones, again in waves, then terminates what is left. When it resolves, no
   * socket is open and all pending messages are written.
   */
  async drain(overMs: number): Promise<void> {
    this.#draining = true;
    const sessions = [...this.#alive];
    const waves = splitIntoWaves(sessions);
    const allGone = Promise.all(sessions.map(({ connection }) => connection.ended));
    const stepMs = overMs / 2 / waves.length;
    for (const wave of waves) {
      for (const { connection } of wave) {
        if (connection.instanceId === null) continue; // does not know the message
        // Leaves each agent at least a quarter of the time to reconnect before this connection closes.
        const advice = { reason: 'the platform is shutting down', reconnect_within_ms: Math.min(overMs / 4, 600_000) };
        connection.send('drain', advice).catch(() => undefined); // closed below in any case
      }
      await this.#atMost(allGone, stepMs);
    }
    for (const wave of waves) {
      for (const { connection } of wave) void connection.close(CLOSE_CODES.draining, 'the platform is shutting down');
      if (wave !== waves.at(-1)) await this.#atMost(allGone, stepMs);
    }
    await this.#atMost(allGone, Math.max(overMs / 2, 500));
    await Promise.all([...this.#alive].map(({ connection }) => connection.terminate()));
    while (this.#endings.size > 0) await Promise.all(this.#endings);
  }

  async #atMost(done: Promise<unknown>, delayMs: number): Promise<void> {
    let cancel = (): void => undefined;
    const tooLong = new Promise<void>((resolve) => {
      cancel = this.#clock.setTimer(resolve, delayMs);
    });
    await Promise.race([done, tooLong]);
    cancel();
  }
}

function splitIntoWaves(sessions: readonly AgentSession[]): (readonly AgentSession[])[] {
  const size = Math.max(SMALLEST_WAVE, Math.ceil(sessions.length / WAVES));
  const waves: (readonly AgentSession[])[] = [];
  for (let start = 0; start < sessions.length; start += size) waves.push(sessions.slice(start, start + size));
  return waves;
}
