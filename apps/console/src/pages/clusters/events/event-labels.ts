import type { ClusterEvent } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';

const LABELS: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  pod_created: ['Pod created', 'neutral'],
  pod_ready: ['Pod ready', 'ok'],
  pod_failed: ['Pod failed', 'danger'],
  pod_crash_loop: ['Crash loop', 'danger'],
  pod_oom_killed: ['Out of memory', 'danger'],
  pod_evicted: ['Pod evicted', 'danger'],
  pod_deleted: ['Pod deleted', 'neutral'],
  image_pull_failed: ['Image pull failed', 'danger'],
  deployment_available: ['Available', 'ok'],
  deployment_failed: ['Deployment failed', 'danger'],
  scaled: ['Scaled', 'accent'],
  node_added: ['Node added', 'neutral'],
  node_ready: ['Node ready', 'ok'],
  node_not_ready: ['Node not ready', 'danger'],
  node_removed: ['Node removed', 'warn'],
  warning_event: ['Warning', 'warn'],
  drift_detected: ['Drift detected', 'warn'],
  drift_corrected: ['Drift corrected', 'ok'],
  autoscale_applied: ['Autoscaling applied', 'accent'],
  autoscale_skipped: ['Autoscaling skipped', 'warn'],
  agent_started: ['Agent started', 'neutral'],
  agent_stopping: ['Agent stopping', 'neutral'],
  events_dropped: ['Events dropped', 'warn'],
};

/** Event types of this platform's agents, in display order. */
export const EVENT_TYPES: readonly string[] = Object.keys(LABELS);

/** Label of an event; an unknown type keeps its own name. */
export function eventLabel(type: string): { label: string; tone: Tone } {
  const [label, tone] = LABELS[type] ?? [type.replaceAll('_', ' '), 'neutral'];
  return { label, tone };
}

/** Further details in one line, such as a cause. */
export function formatDetails({ details }: Pick<ClusterEvent, 'details'>): string {
  const { message, reason } = details;
  const said = [reason, message].filter((each) => typeof each === 'string' && each !== '');
  if (said.length > 0) return said.join(': ');
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '' && value !== false && typeof value !== 'object')
    .map(([key, value]) => `${key.replaceAll('_', ' ')} ${String(value)}`)
    .join(', ');
}
