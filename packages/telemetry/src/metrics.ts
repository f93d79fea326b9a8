import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** A registry of metrics. */
export interface Metrics {
  readonly registry: Registry;
  counter<Label extends string = never>(name: string, help: string, labels?: readonly Label[]): Counter<Label>;
  gauge<Label extends string = never>(name: string, help: string, labels?: readonly Label[]): Gauge<Label>;
  /** A gauge whose value is read at each scrape; NaN if there is none. */
  observableGauge(name: string, help: string, read: () => number): void;
  /** Calls `update` at each scrape, before the metrics are rendered. For families of labels and values read together. */
  onScrape(update: () => void | Promise<void>): void;
  histogram<Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
    bucketsSeconds?: readonly number[],
  ): Histogram<Label>;
  /** Prometheus text format 0.0.4. */
  render(): Promise<string>;
}

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates a separate registry per app, so that tests and several apps in one process never share metrics. */
export function createMetrics(options: { processMetricsPrefix?: string } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetricsPrefix !== undefined) {
    collectDefaultMetrics({
      register: registry,
      prefix: options.processMetricsPrefix,
      eventLoopMonitoringPrecision: 50,
    });
  }
  const registers = [registry];
  const updates: (() => void | Promise<void>)[] = [];
  return {
    registry,
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames: [...labelNames], registers }),
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers }),
    observableGauge: (name, help, read) => {
      const gauge = new Gauge({ name, help, registers });
      updates.push(() => gauge.set(read()));
    },
    onScrape: (update) => void updates.push(update),
    histogram: (name, help, labelNames = [], buckets = LATENCY_BUCKETS_SECONDS) =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers }),
    render: async () => {
      for (const update of updates) await update();
      return await registry.metrics();
    },
  };
}
