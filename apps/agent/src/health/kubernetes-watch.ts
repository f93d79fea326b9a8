import { isAppError } from '@svc/errors';
import type { KubeClient } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import { canAutoScale } from '../autoscale/possibility.ts';
import { pause, type Clock } from '@svc/runtime';
import type { KubernetesHealth } from './health.ts';

const INTERVAL_MS = 15_000;
const RETRY_MS = 3000;
const CHECK_EVERY_MS = 200;
/** A booting machine may start the agent before its API server. */
const REACHABLE_WITHIN_MS = 120_000;

/** Polls the API server: whether it is reachable, its version, and whether it accepts our credentials. */
export class KubernetesWatch {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  #autoScaling = false;
  #health: KubernetesHealth = { state: 'connecting', version: '' };

  constructor(client: KubeClient, clock: Clock, log: Logger) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  /** True if a deploy could create a working autoscaler. */
  get autoScaling(): boolean {
    return this.#autoScaling;
  }

  get health(): KubernetesHealth {
    return this.#health;
  }

  /** Resolves when the API server has responded with any status, when it is too late, or when the signal aborts. */
  async reachable(signal: AbortSignal): Promise<void> {
    const untilMs = this.#clock.nowMs() + REACHABLE_WITHIN_MS;
    const isAway = (): boolean => this.#health.state === 'connecting' || this.#health.state === 'unreachable';
    while (isAway() && !signal.aborted && this.#clock.nowMs() < untilMs)
      await pause(this.#clock, CHECK_EVERY_MS, signal);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#ask(signal);
      await pause(this.#clock, this.#health.state === 'ok' ? INTERVAL_MS : RETRY_MS, signal);
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const before = this.#health.state;
    try {
      const { gitVersion } = await this.#client.version(signal);
      // The version is public; the list of kinds requires valid credentials.
      await this.#client.raw('/api', signal);
      this.#health = { state: 'ok', version: gitVersion };
      this.#autoScaling = await canAutoScale(this.#client, signal).catch(() => false);
      if (before !== 'ok') this.#log.info({ kubernetes_version: gitVersion }, 'the Kubernetes API answers');
    } catch (error) {
      if (signal.aborted) return;
      const status = isAppError(error) ? error.status : 0;
      const state = status === 401 ? 'unauthorized' : status === 403 ? 'forbidden' : 'unreachable';
      this.#health = { ...this.#health, state };
      if (before !== state) this.#log.warn({ err: error, state }, 'the Kubernetes API does not answer');
    }
  }
}
