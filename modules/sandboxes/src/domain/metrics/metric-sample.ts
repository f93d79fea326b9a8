/** Resource usage of a sandbox at one moment. A value that the driver cannot measure is null. */
export interface MetricSample {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** CPUs in use, averaged since the previous sample. */
  readonly cpuCores: number | null;
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly diskBytes: number | null;
}

export interface MetricStore {
  /** Appends in one transaction. Skips samples of sandboxes deleted meanwhile. */
  append(samples: readonly (MetricSample & { readonly sandboxId: string })[]): Promise<void>;
  /** Samples after the instant, oldest first. */
  since(sandboxId: string, after: string, limit: number): Promise<readonly MetricSample[]>;
  prune(before: string): Promise<void>;
}
