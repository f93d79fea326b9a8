import { CLOSE_CODES, type CloseCode } from '@svc/protocol';
import type { Clock } from '../../domain/clock.ts';
import type { AgentSession } from './agent-session.ts';

/** Agents are sent away in so many waves, so that they do not all come back in the same instant. */
const WAVES = 10;
const SMALLEST_WAVE = 50;

/** The connections of this replica, one per cluster: the newest. */
export class AgentConnections {
  readonly #sessions = new Map<string, AgentSession>();
  readonly #clock: Clock;
  /** Sessions whose socket is open or whose last message is still written. */
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

  /** Of two connections the one with the higher epoch stays, whichever comes first here. */
  add(session: AgentSession): void {
    this.#alive.add(session);
    const { clusterId, epoch } = session.connection;
    const other = this.#sessions.get(clusterId);
    if (this.#draining) {
      void session.connection.close(CLOSE_CODES.draining, 'the platform stops');
      return;
    }
    if (other !== undefined && other.connection.epoch > epoch) {
      void session.connection.close(CLOSE_CODES.replaced, 'a newer connection of this cluster is open');
      return;
    }
    this.#sessions.set(clusterId, session);
    if (other !== undefined) {
      void other.connection.close(CLOSE_CODES.replaced, 'a newer connection of this cluster took over');
    }
  }

  remove(session: AgentSession): void {
    this.#alive.delete(session);
    const { clusterId } = session.connection;
    if (this.#sessions.get(clusterId) === session) this.#sessions.delete(clusterId);
  }

  /** The one of each cluster that counts here. */
  newest(): AgentSession[] {
    return [...this.#sessions.values()];
  }

  /** Ends those of `held` whose cluster has a newer connection at another replica. */
  keepOnly(held: readonly AgentSession[], epochs: ReadonlyMap<string, number>): void {
    for (const { connection } of held) {
      if (epochs.get(connection.clusterId) === connection.epoch) continue;
      void connection.close(CLOSE_CODES.replaced, 'a newer connection of this cluster took over');
    }
  }

  /** What a closed session still has to write. */
  track(ending: Promise<void>): void {
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }

  closeCluster(clusterId: string, code: CloseCode, reason: string): void {
    void this.#sessions.get(clusterId)?.connection.close(code, reason);
  }

  /** Ends what was opened with a token that is not valid any more. */
  closeTokens(hashes: ReadonlySet<string>, clusterId?: string): void {
    for (const session of this.#sessions.values()) {
      const { connection } = session;
      if (clusterId !== undefined && connection.clusterId !== clusterId) continue;
      if (hashes.has(connection.tokenHash)) void connection.close(CLOSE_CODES.unauthorized, 'the token was revoked');
    }
  }

  /** Ends all but the connection made with this token. */
  closeOtherTokens(clusterId: string, keptHash: string): void {
    const connection = this.#sessions.get(clusterId)?.connection;
    if (connection === undefined || connection.tokenHash === keptHash) return;
    void connection.close(CLOSE_CODES.unauthorized, 'the token was rotated');
  }

  /**
   * In waves over the first half of `overMs` every agent is told to connect elsewhere, and leaves by itself when it has;
   * over the second half those that are still here are closed, in waves again, then what is left is cut. When it
   * resolves, no socket is open and everything that was in hand is written.
   */
  async drain(overMs: number): Promise<void> {
    this.#draining = true;
    const sessions = [...this.#alive];
    const waves = wavesOf(sessions);
    const allGone = Promise.all(sessions.map(({ connection }) => connection.ended));
    const stepMs = overMs / 2 / waves.length;
    for (const wave of waves) {
      for (const { connection } of wave) {
        if (connection.instanceId === null) continue; // knows nothing of it
        // Everybody has at least a quarter for the new connection before this one is closed.
        const advice = { reason: 'the platform stops', reconnect_within_ms: Math.min(overMs / 4, 600_000) };
        connection.send('drain', advice).catch(() => undefined); // it is closed below in any case
      }
      await this.#atMost(allGone, stepMs);
    }
    for (const wave of waves) {
      for (const { connection } of wave) void connection.close(CLOSE_CODES.draining, 'the platform stops');
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

function wavesOf(sessions: readonly AgentSession[]): (readonly AgentSession[])[] {
  const size = Math.max(SMALLEST_WAVE, Math.ceil(sessions.length / WAVES));
  const waves: (readonly AgentSession[])[] = [];
  for (let start = 0; start < sessions.length; start += size) waves.push(sessions.slice(start, start + size));
  return waves;
}
