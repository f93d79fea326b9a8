import type { Cluster } from './cluster.ts';

export interface ClusterWarning {
  code: 'CLOCK_SKEW' | 'LIMITED' | 'TWO_AGENTS';
  message: string;
}

/** A slow network and a full queue add a few seconds; more means that the clock is not synchronized. */
const WARNED_SKEW_SECONDS = 60;
/** Each of two competing agents reconnects within this time: a replaced agent waits at most a minute. */
const TWO_AGENTS_MS = 180_000;
/** About thirty years; fits into the column. */
const MOST_SKEW_SECONDS = 1_000_000_000;

/** Conditions that make a cluster behave differently from what a user would expect. */
export function warningsOf({ clockSkewSeconds, reportedStatus, twoAgentsAt }: Cluster, now: Date): ClusterWarning[] {
  const warnings: ClusterWarning[] = [];
  if (twoAgentsAt !== null && now.getTime() - Date.parse(twoAgentsAt) <= TWO_AGENTS_MS) {
    const message =
      'Two agents connect with the token of this cluster and replace each other: stop one of them, or rotate the token';
    warnings.push({ code: 'TWO_AGENTS', message });
  }
  if (clockSkewSeconds !== null && Math.abs(clockSkewSeconds) >= WARNED_SKEW_SECONDS) {
    const side = clockSkewSeconds > 0 ? 'ahead of' : 'behind';
    const message = `The clock of the agent is ${Math.abs(clockSkewSeconds)} s ${side} the platform's: the times of its events are wrong by that`;
    warnings.push({ code: 'CLOCK_SKEW', message });
  }
  for (const { feature, reason } of reportedStatus?.limitations ?? []) {
    warnings.push({ code: 'LIMITED', message: `The agent does not report ${feature}: ${reason}` });
  }
  return warnings;
}

/** Seconds by which the agent's clock is ahead of ours: the message's send time minus its arrival time. */
export function parseClockSkew(said: string, nowMs: number): number {
  const seconds = Math.round((Date.parse(said) - nowMs) / 1000);
  return Math.max(-MOST_SKEW_SECONDS, Math.min(seconds, MOST_SKEW_SECONDS));
}
