import { setTimeout as delay } from 'node:timers/promises';
import type { Listener } from '@svc/http';
import type { Logger } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';

/** Time for modules and databases to close after the listeners. */
const CLOSING_MS = 5_500;

type Closable = Pick<Listener, 'announceClose' | 'close'>;

export interface ShutdownTimes {
  /** How long requests are still served while readiness already fails, so that proxies stop sending new ones. */
  lameDuckMs: number;
  /** How long requests under way may take to finish. */
  drainMs: number;
  /** The same for agents, which leave in waves, and for other upgraded connections. */
  upgradedMs: number;
}

/** One process has no other replica to send its clients to, so it does not wait for a proxy. */
const LAME_DUCK_SECONDS = { sqlite: 0, postgres: 5 } as const;

export function shutdownTimes({ shutdown, database, clusters }: PlatformConfig): ShutdownTimes {
  const { lame_duck_seconds: lameDuckSeconds, drain_seconds: drainSeconds } = shutdown;
  const byDatabase = database.url === undefined ? LAME_DUCK_SECONDS.sqlite : LAME_DUCK_SECONDS.postgres;
  return {
    lameDuckMs: (lameDuckSeconds ?? byDatabase) * 1000,
    drainMs: drainSeconds * 1000,
    upgradedMs: (Math.max(drainSeconds, clusters.drain_seconds) + 1) * 1000,
  };
}

/** After this time, the process ends even if something hangs. */
export function shutdownDeadlineMs(config: PlatformConfig): number {
  const { lameDuckMs, upgradedMs } = shutdownTimes(config);
  return lameDuckMs + upgradedMs + CLOSING_MS;
}

/**
 * Takes the replica out of service before anything closes: readiness fails, answers end their connections, then the
 * listeners stop accepting and wait for what is under way.
 */
export class Shutdown {
  readonly #log: Logger;
  readonly #times: ShutdownTimes;
  readonly #wait: (delayMs: number) => Promise<unknown>;
  readonly #listeners: { listener: Closable; graceMs: number }[] = [];
  #isServing = false;
  #isDraining = false;

  /** `wait` resolves after some milliseconds. */
  constructor(log: Logger, times: ShutdownTimes, wait: (delayMs: number) => Promise<unknown> = (ms) => delay(ms)) {
    this.#wait = wait;
    this.#log = log;
    this.#times = times;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Longest duration of `drain`. */
  get longestMs(): number {
    return this.#times.lameDuckMs + this.#times.upgradedMs;
  }

  /** `upgrades`: the listener has connections that are told to reconnect elsewhere. */
  add(listener: Closable, { upgrades }: { upgrades: boolean }): void {
    this.#listeners.push({ listener, graceMs: upgrades ? this.#times.upgradedMs : this.#times.drainMs });
  }

  /** Call once the start has succeeded; a failed start has no clients to wait for. */
  serving(): void {
    this.#isServing = true;
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    const { lameDuckMs } = this.#times;
    if (this.#isServing && lameDuckMs > 0) {
      this.#log.info({ seconds: lameDuckMs / 1000 }, 'stopping; readiness fails, requests are still served');
      for (const { listener } of this.#listeners) listener.announceClose();
      await this.#wait(lameDuckMs);
    }
    await Promise.all(this.#listeners.map(({ listener, graceMs }) => listener.close(graceMs)));
  }
}
