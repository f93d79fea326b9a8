/** What a sandbox used at one moment; null is what the driver cannot tell. */
export interface MetricSample {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** CPUs, averaged since the sample before. */
  readonly cpuCores: number | null;
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly diskBytes: number | null;
}

export interface MetricStore {
  /** One transaction. Samples of sandboxes that are gone meanwhile are left out. */
  append(samples: readonly (MetricSample & { readonly sandboxId: string })[]): Promise<void>;
  /** Oldest first, those after the instant. */
  since(sandboxId: string, after: string, limit: number): Promise<readonly MetricSample[]>;
  prune(before: string): Promise<void>;
}
