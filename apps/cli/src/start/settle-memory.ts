import { performance } from 'node:perf_hooks';
import { BackgroundLoop, type Clock } from '@svc/runtime';

export interface SettleMemoryDeps {
  /** Collects garbage now, and blocks the process meanwhile. */
  collect: () => void;
  heapUsedBytes: () => number;
  /** Share of the time since the previous call in which the process was busy: 0 to 1. */
  busyShare: () => number;
  onError: (error: unknown) => void;
  /** Ends it. */
  signal: AbortSignal;
  clock?: Pick<Clock, 'setTimer'>;
}

/** Until the first collection. A console or script sends its first requests as soon as the platform is ready. */
const FIRST_INTERVAL_MS = 3_000;
/** After it: so long must the process have been idle before the next. */
const INTERVAL_MS = 30_000;
/** So little that hardly a request could meet a collection. */
const IDLE_SHARE = 0.02;
/** A collection blocks the process for some 100 ms, longer on a busy machine, which less garbage is not worth. */
const WORTH_BYTES = 8 * 2 ** 20;
/** A collection of a larger heap would block the process for too long. V8 collects that one by itself. */
const LARGEST_HEAP_BYTES = 256 * 2 ** 20;

/**
 * Collects garbage when the process is idle: first what the start left behind, then what each spell of work did. V8
 * would collect only under load, and an idle platform would hold about 20 MiB until then (decision 0008).
 */
export function settleMemory(deps: SettleMemoryDeps): void {
  let keptBytes: number | null = null;
  const run = async (): Promise<void> => {
    const isBusy = deps.busyShare() > IDLE_SHARE;
    const usedBytes = deps.heapUsedBytes();
    if (isBusy || usedBytes > LARGEST_HEAP_BYTES) return;
    if (keptBytes !== null && usedBytes - keptBytes < WORTH_BYTES) return;
    deps.collect();
    keptBytes = deps.heapUsedBytes();
  };
  const intervalMs = (): number => (keptBytes === null ? FIRST_INTERVAL_MS : INTERVAL_MS);
  const { onError, signal, clock } = deps;
  new BackgroundLoop({ run, intervalMs, onError, ...(clock && { clock }) }).start(signal);
}

/** Settles the memory of this process. `svc` starts Node.js with `--expose-gc`; without it, nothing happens. */
export function settleOwnMemory(options: Pick<SettleMemoryDeps, 'onError' | 'signal'>): void {
  let previous = performance.eventLoopUtilization();
  settleMemory({
    // V8's most thorough collection: the usual one leaves about 25 MiB more for the first minutes.
    collect: () => {
      globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    },
    heapUsedBytes: () => process.memoryUsage().heapUsed,
    busyShare: () => {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, previous);
      previous = current;
      return utilization;
    },
    ...options,
  });
}
