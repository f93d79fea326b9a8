import type { SandboxEvent, SandboxEventType } from './sandbox-event.ts';

const STARTS: ReadonlySet<SandboxEventType> = new Set(['running', 'resumed']);
const ENDS: ReadonlySet<SandboxEventType> = new Set(['stopped', 'paused', 'error', 'deleted']);
const MAX_STEPS = 120;
const MIN_STEP_SECONDS = 5;

/** A span of time. Unix timestamps in seconds; `end` is excluded. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

/** What happened in one step of the span. */
export interface ActivityStep {
  /** Unix timestamp in seconds of the beginning of the step. */
  readonly at: number;
  /** Most sandboxes that ran at the same time. */
  readonly concurrent: number;
  readonly startsPerSecond: number;
}

/**
 * Derives from the events of a workspace, oldest first, how many sandboxes ran and started, in at most 120 steps. A
 * sandbox whose start is no longer stored counts from its next start.
 */
export async function deriveActivity(
  events: AsyncIterable<SandboxEvent>,
  { start, end }: TimeSpan,
): Promise<ActivityStep[]> {
  const stepSeconds = Math.max(MIN_STEP_SECONDS, Math.ceil((end - start) / MAX_STEPS));
  const running = new Set<string>();
  const steps: ActivityStep[] = [];
  let at = start;
  let concurrent = 0;
  let starts = 0;
  const finishSteps = (untilSeconds: number): void => {
    while (at < end && at + stepSeconds <= untilSeconds) {
      steps.push({ at, concurrent, startsPerSecond: starts / stepSeconds });
      at += stepSeconds;
      concurrent = running.size;
      starts = 0;
    }
  };
  for await (const event of events) {
    const seconds = Date.parse(event.at) / 1000;
    if (seconds >= end) break;
    finishSteps(seconds);
    const isStart = STARTS.has(event.type) && !running.has(event.sandboxId);
    if (isStart) running.add(event.sandboxId);
    if (ENDS.has(event.type)) running.delete(event.sandboxId);
    // Before the span, only those that run at its beginning count.
    concurrent = seconds < start ? running.size : Math.max(concurrent, running.size);
    if (isStart && seconds >= start) starts += 1;
  }
  finishSteps(end + stepSeconds);
  return steps;
}
