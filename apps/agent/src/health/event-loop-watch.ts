import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '@svc/runtime';

const INTERVAL_MS = 5000;
const BLOCKED_SECONDS = 5;

export interface EventLoopWatch {
  /** True if the loop was blocked for more than five seconds in the last interval. */
  blocked(): boolean;
  stop(): void;
}

/** Watches the longest delay of each interval: a process with a blocked event loop cannot work. */
export function watchEventLoop(clock: Clock, report: (lagSeconds: number) => void): EventLoopWatch {
  const delays = monitorEventLoopDelay({ resolution: 50 });
  delays.enable();
  let lagSeconds = 0;
  let cancel = clock.setTimer(measure, INTERVAL_MS);
  function measure(): void {
    lagSeconds = delays.max / 1e9;
    delays.reset();
    report(lagSeconds);
    cancel = clock.setTimer(measure, INTERVAL_MS);
  }
  return {
    blocked: () => lagSeconds > BLOCKED_SECONDS,
    stop: () => {
      cancel();
      delays.disable();
    },
  };
}
