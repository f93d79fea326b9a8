import pLimit from 'p-limit';
import { BackgroundLoop, KeyedQueue, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { SandboxDriver } from '../driver.ts';
import type { EventDetails } from '../events/sandbox-event.ts';
import type { MetricSample, MetricStore } from './metric-sample.ts';

const PARALLEL_READINGS = 4;
/** Readings closer together than this give no meaningful CPU average. */
const MIN_INTERVAL_MS = 200;
const PRUNE_EVERY_MS = 60_000;

export interface MetricSamplerOptions {
  /** Measures a sandbox of this node. */
  readonly stats: SandboxDriver['stats'];
  readonly store: MetricStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ids of the sandboxes running on this node. */
  readonly running: () => readonly string[];
  /** The id of the connected cluster that a sandbox runs in; null for one of this node. */
  readonly clusterOf: (id: string) => string | null;
  readonly everyMs: number;
  readonly keptMs: number;
  /** Called when the kernel has killed processes of a sandbox that keeps running. */
  readonly outOfMemory: (id: string, details: EventDetails) => void;
}

interface Reading {
  readonly atMs: number;
  readonly cpuMicroseconds: number | null;
  readonly oomKills: number | null;
  readonly sample: MetricSample;
}

export interface MetricTotals {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly diskBytes: number;
}

/**
 * Measures all running sandboxes of this node at a fixed interval, a few at a time: those of each connected cluster on their
 * own, so that one that does not answer delays no others.
 */
export class MetricSampler {
  readonly #options: MetricSamplerOptions;
  readonly #last = new Map<string, Reading>();
  readonly #loop: BackgroundLoop;
  readonly #clusters = new KeyedQueue();
  #prunedAtMs = 0;

  constructor(options: MetricSamplerOptions) {
    this.#options = options;
    const { clock, everyMs, log } = options;
    this.#loop = new BackgroundLoop({
      run: () => this.#sample(),
      intervalMs: everyMs,
      onError: (error) => log.warn({ err: error }, 'sandboxes could not be measured'),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async #sample(): Promise<void> {
    const { running, clusterOf, store, clock, keptMs, log } = this.#options;
    const ids = running();
    for (const id of this.#last.keys()) if (!ids.includes(id)) this.#last.delete(id);
    const byCluster = Map.groupBy(ids, clusterOf);
    for (const [clusterId, itsIds] of byCluster) {
      if (clusterId === null || this.#clusters.has(clusterId)) continue;
      this.#clusters
        .run(clusterId, () => this.#sampleEach(itsIds))
        .catch((err: unknown) => log.warn({ err, cluster: clusterId }, 'sandboxes of a cluster could not be measured'));
    }
    await this.#sampleEach(byCluster.get(null) ?? []);
    const nowMs = clock.nowMs();
    if (nowMs - this.#prunedAtMs < PRUNE_EVERY_MS) return;
    this.#prunedAtMs = nowMs;
    await store.prune(new Date(nowMs - keptMs).toISOString());
  }

  async #sampleEach(ids: readonly string[]): Promise<void> {
    const limit = pLimit(PARALLEL_READINGS);
    const read = await Promise.all(ids.map((id) => limit(async () => ({ id, reading: await this.#readQuietly(id) }))));
    const samples = read.flatMap(({ id, reading }) => (reading === null ? [] : [{ sandboxId: id, ...reading.sample }]));
    if (samples.length > 0) await this.#options.store.append(samples);
  }

  /** Measures current usage. CPU is averaged since the last sample. */
  async current(id: string): Promise<MetricSample> {
    const before = this.#last.get(id);
    const reading = await this.#read(id);
    // Keep the interval of the next sample unaffected by this reading.
    if (before !== undefined) this.#last.set(id, before);
    return reading.sample;
  }

  /** Sums of the latest samples on this node. */
  get totals(): MetricTotals {
    const totals = { cpuCores: 0, memoryBytes: 0, pids: 0, diskBytes: 0 };
    for (const { sample } of this.#last.values()) {
      totals.cpuCores += sample.cpuCores ?? 0;
      totals.memoryBytes += sample.memoryBytes ?? 0;
      totals.pids += sample.pids ?? 0;
      totals.diskBytes += sample.diskBytes ?? 0;
    }
    return totals;
  }

  async close(): Promise<void> {
    await this.#loop.close();
    await this.#clusters.idle();
  }

  /** Returns null for a sandbox that stopped meanwhile. */
  async #readQuietly(id: string): Promise<Reading | null> {
    return this.#read(id).catch((error: unknown) => {
      this.#options.log.debug({ err: error, sandbox: id }, 'a sandbox could not be measured');
      return null;
    });
  }

  async #read(id: string): Promise<Reading> {
    const { stats, clock, outOfMemory } = this.#options;
    const { cpuMicroseconds, memoryBytes, pids, diskBytes, oomKills } = await stats(id);
    const atMs = clock.nowMs();
    const before = this.#last.get(id);
    const cpuCores = before === undefined ? null : coresBetween(before, { atMs, cpuMicroseconds });
    const at = new Date(atMs).toISOString();
    const reading = { atMs, cpuMicroseconds, oomKills, sample: { at, cpuCores, memoryBytes, pids, diskBytes } };
    const killed = before === undefined ? 0 : (oomKills ?? 0) - (before.oomKills ?? oomKills ?? 0);
    this.#last.set(id, reading);
    if (killed > 0) outOfMemory(id, { scope: 'process', killed });
    return reading;
  }
}

function coresBetween(before: Reading, now: Pick<Reading, 'atMs' | 'cpuMicroseconds'>): number | null {
  const elapsedMs = now.atMs - before.atMs;
  if (now.cpuMicroseconds === null || before.cpuMicroseconds === null) return null;
  if (elapsedMs < MIN_INTERVAL_MS) return before.sample.cpuCores;
  // After a restart in between, the counter has started from zero again.
  const used = Math.max(0, now.cpuMicroseconds - before.cpuMicroseconds);
  return Math.round(used / elapsedMs) / 1000;
}
