import type { DeploymentResult, ResourceResult } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import type { StateLabel } from '../detail/cluster-labels.ts';

const STATUSES: Readonly<Record<string, StateLabel>> = {
  queued: { label: 'Queued', tone: 'neutral', live: true },
  dispatched: { label: 'Sent', tone: 'accent', live: true },
  running: { label: 'Running', tone: 'accent', live: true },
  succeeded: { label: 'Succeeded', tone: 'ok', live: false },
  failed: { label: 'Failed', tone: 'danger', live: false },
  timed_out: { label: 'Timed out', tone: 'danger', live: false },
  cancelled: { label: 'Cancelled', tone: 'neutral', live: false },
  superseded: { label: 'Superseded', tone: 'neutral', live: false },
  lost: { label: 'Lost', tone: 'danger', live: false },
};

/** Label of a command's state; an unknown state keeps its own name. */
export function commandLabel(status: string): StateLabel {
  return STATUSES[status] ?? { label: status, tone: 'neutral', live: false };
}

export const ACTION_TONES: Readonly<Record<ResourceResult['action'], Tone>> = {
  created: 'ok',
  configured: 'accent',
  unchanged: 'neutral',
  pruned: 'warn',
  skipped: 'neutral',
  failed: 'danger',
};

export const HEALTH_TONES: Readonly<Record<ResourceResult['health'], Tone>> = {
  ready: 'ok',
  progressing: 'accent',
  degraded: 'danger',
  failed: 'danger',
  unknown: 'neutral',
};

const PHASES: Readonly<Record<string, string>> = {
  validating: 'Validating the manifest',
  dry_run: 'Dry run',
  applying: 'Applying',
  pruning: 'Pruning',
  waiting: 'Waiting until ready',
};

/** Label of a step; an unknown step keeps its own name. */
export function phaseLabel(phase: string): string {
  return PHASES[phase] ?? phase.replaceAll('_', ' ');
}

/** Formats a summary, such as `2 created, 1 unchanged`. */
export function formatSummary(summary: DeploymentResult['summary'], dryRun: boolean): string {
  const parts = Object.entries(summary)
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${count} ${action}`);
  if (parts.length === 0) return 'No changes';
  return dryRun ? `Plan: ${parts.join(', ')}` : parts.join(', ');
}

/** Progress of a step, between 0 and 1; null if unknown. */
export function shareOf(counts: Readonly<Record<string, number>>): number | null {
  const total = counts['total'] ?? 0;
  if (total === 0) return null;
  return Math.min(1, (counts['applied'] ?? counts['ready'] ?? 0) / total);
}
