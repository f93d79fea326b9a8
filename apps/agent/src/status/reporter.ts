import { PROTOCOL_TIMES } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { PlatformChannel } from '../channel/channel.ts';
import { pause, type Clock } from '@svc/runtime';
import type { ClusterNumbers } from './cluster-numbers.ts';
import type { Limitations } from './limitations.ts';

export interface ReporterOptions {
  channel: Pick<PlatformChannel, 'session' | 'send'>;
  numbers: ClusterNumbers;
  limitations: Limitations;
  clock: Clock;
  log: Logger;
}

/**
 * A status is sent with every tenth heartbeat, with the first of each connection, when a limitation changes, and when
 * the heartbeat's pod count has changed: otherwise the two could disagree for minutes.
 */
const HEARTBEATS_PER_STATUS = 10;

/** Sends heartbeats and cluster status while connected. */
export class StatusReporter {
  readonly #options: ReporterOptions;
  #wake = new AbortController();
  #sinceStatus = HEARTBEATS_PER_STATUS;
  #toldLimitations = 0;
  #toldActivePods = 0;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Reports immediately on a new connection. */
  connected(): void {
    this.#sinceStatus = HEARTBEATS_PER_STATUS;
    this.#wake.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { channel, clock } = this.#options;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      if (channel.session !== null) await this.#report(signal);
      const seconds = channel.session?.welcome?.heartbeat_interval_seconds;
      const intervalMs = seconds === undefined ? PROTOCOL_TIMES.heartbeatIntervalMs : seconds * 1000;
      await pause(clock, intervalMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { channel, numbers, limitations, log } = this.#options;
    try {
      const heartbeat = await numbers.heartbeat(signal);
      await channel.send('heartbeat', heartbeat);
      this.#sinceStatus += 1;
      const { active_pods: activePods } = heartbeat.metrics;
      const isSame = limitations.version === this.#toldLimitations && activePods === this.#toldActivePods;
      if (this.#sinceStatus <= HEARTBEATS_PER_STATUS && isSame) return;
      const status = await numbers.clusterStatus(signal);
      const { version } = limitations;
      const told = limitations.list();
      await channel.send('cluster_status', { ...status, ...(told.length === 0 ? {} : { limitations: told }) });
      this.#toldLimitations = version;
      this.#toldActivePods = activePods;
      this.#sinceStatus = 0;
    } catch (error) {
      if (!signal.aborted) log.debug({ err: error }, 'a report was not sent');
    }
  }
}
