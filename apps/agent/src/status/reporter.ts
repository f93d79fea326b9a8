import { PROTOCOL_TIMES } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { PlatformChannel } from '../channel/channel.ts';
import { pause, type Clock } from '../clock.ts';
import type { ClusterNumbers } from './cluster-numbers.ts';
import type { Limitations } from './limitations.ts';

export interface ReporterOptions {
  channel: PlatformChannel;
  numbers: ClusterNumbers;
  limitations: Limitations;
  clock: Clock;
  log: Logger;
}

/** A status is sent with every tenth heartbeat, with the first of each connection, and when a limitation came or went. */
const HEARTBEATS_PER_STATUS = 10;

/** Heartbeats and cluster status while a connection is there. */
export class StatusReporter {
  readonly #options: ReporterOptions;
  #wake = new AbortController();
  #sinceStatus = HEARTBEATS_PER_STATUS;
  #toldLimitations = 0;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** A new connection wants its numbers now. */
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
      await channel.send('heartbeat', await numbers.heartbeat(signal));
      this.#sinceStatus += 1;
      if (this.#sinceStatus <= HEARTBEATS_PER_STATUS && limitations.version === this.#toldLimitations) return;
      const status = await numbers.clusterStatus(signal);
      const { version } = limitations;
      const told = limitations.list();
      await channel.send('cluster_status', { ...status, ...(told.length === 0 ? {} : { limitations: told }) });
      this.#toldLimitations = version;
      this.#sinceStatus = 0;
    } catch (error) {
      if (!signal.aborted) log.debug({ err: error }, 'a report was not sent');
    }
  }
}
