import type { Cluster } from './cluster.ts';

export interface ClusterWarning {
  code: 'CLOCK_SKEW' | 'LIMITED';
  message: string;
}

/** A slow network and a full queue make some seconds; this is a clock that nobody sets. */
const WARNED_SKEW_SECONDS = 60;
/** Thirty years, which fit into a column. */
const MOST_SKEW_SECONDS = 1_000_000_000;

/** What works otherwise than whoever looks at the cluster would think. */
export function warningsOf({ clockSkewSeconds, reportedStatus }: Cluster): ClusterWarning[] {
  const warnings: ClusterWarning[] = [];
  if (clockSkewSeconds !== null && Math.abs(clockSkewSeconds) >= WARNED_SKEW_SECONDS) {
    const side = clockSkewSeconds > 0 ? 'ahead of' : 'behind';
    const message = `The clock of the agent is ${Math.abs(clockSkewSeconds)} s ${side} the platform's: the times of its events are wrong by that`;
    warnings.push({ code: 'CLOCK_SKEW', message });
  }
  for (const { feature, reason } of reportedStatus?.limitations ?? []) {
    warnings.push({ code: 'LIMITED', message: `The agent leaves out ${feature}: ${reason}` });
  }
  return warnings;
}

/** Seconds by which the agent's clock is ahead of ours: what it said when a message left it against when it came. */
export function clockSkewOf(said: string, nowMs: number): number {
  const seconds = Math.round((Date.parse(said) - nowMs) / 1000);
  return Math.max(-MOST_SKEW_SECONDS, Math.min(seconds, MOST_SKEW_SECONDS));
}
