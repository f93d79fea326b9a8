import type { ClusterNode, Pod, Workload } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';

export interface ObjectLabel {
  label: string;
  tone: Tone;
}

/** The state shown by kubectl, with a tone. */
export function podLabel({ state, ready }: Pick<Pod, 'state' | 'ready'>): ObjectLabel {
  if (state === 'Running') return { label: ready ? 'Running' : 'Not ready', tone: ready ? 'ok' : 'warn' };
  if (state === 'Completed' || state === 'Succeeded') return { label: 'Completed', tone: 'neutral' };
  const isOnItsWay = /^(Pending|ContainerCreating|PodInitializing|Terminating|Init:\d)/.test(state);
  return { label: state, tone: isOnItsWay ? 'warn' : 'danger' };
}

const WORKLOAD_TONES: Readonly<Record<string, Tone>> = {
  available: 'ok',
  progressing: 'accent',
  failed: 'danger',
  scaled_down: 'neutral',
  suspended: 'neutral',
  completed: 'neutral',
  scheduled: 'ok',
};

export function workloadLabel({ state }: Pick<Workload, 'state'>): ObjectLabel {
  const label = state.replaceAll('_', ' ');
  return { label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`, tone: WORKLOAD_TONES[state] ?? 'neutral' };
}

export function nodeLabel({
  state,
  schedulable,
  pressures,
}: Pick<ClusterNode, 'state' | 'schedulable' | 'pressures'>): ObjectLabel {
  if (state === 'unknown') return { label: 'Not reporting', tone: 'danger' };
  if (state === 'not_ready') return { label: 'Not ready', tone: 'danger' };
  const [pressure] = pressures;
  if (pressure !== undefined) return { label: pressure, tone: 'warn' };
  return schedulable ? { label: 'Ready', tone: 'ok' } : { label: 'Cordoned', tone: 'warn' };
}

/** Formats cores, such as `120m` (thousandths) or `1.5`; a dash if the cluster serves no metrics. */
export function formatCores(cores: number | null): string {
  if (cores === null) return '–';
  return cores < 1 ? `${Math.round(cores * 1000)}m` : String(Math.round(cores * 10) / 10);
}

/** Formats usage, such as `120m of 4`, or only the capacity if the usage is unknown. */
export function formatUsed(
  used: number | null,
  whole: number | null,
  format: (value: number | null) => string,
): string {
  return used === null ? format(whole) : `${format(used)} of ${format(whole)}`;
}

export function formatMemory(sizeBytes: number | null): string {
  return sizeBytes === null ? '–' : formatBytes(sizeBytes);
}
