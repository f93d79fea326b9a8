import type { ClusterNode, Pod, Workload } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';

export interface Words {
  word: string;
  tone: Tone;
}

/** The state shown by kubectl, with a tone. */
export function podWords({ state, ready }: Pick<Pod, 'state' | 'ready'>): Words {
  if (state === 'Running') return { word: ready ? 'Running' : 'Not ready', tone: ready ? 'ok' : 'warn' };
  if (state === 'Completed' || state === 'Succeeded') return { word: 'Completed', tone: 'neutral' };
  const isOnItsWay = /^(Pending|ContainerCreating|PodInitializing|Terminating|Init:\d)/.test(state);
  return { word: state, tone: isOnItsWay ? 'warn' : 'danger' };
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

export function workloadWords({ state }: Pick<Workload, 'state'>): Words {
  const word = state.replaceAll('_', ' ');
  return { word: `${word.charAt(0).toUpperCase()}${word.slice(1)}`, tone: WORKLOAD_TONES[state] ?? 'neutral' };
}

export function nodeWords({
  state,
  schedulable,
  pressures,
}: Pick<ClusterNode, 'state' | 'schedulable' | 'pressures'>): Words {
  if (state === 'unknown') return { word: 'Not reporting', tone: 'danger' };
  if (state === 'not_ready') return { word: 'Not ready', tone: 'danger' };
  const [pressure] = pressures;
  if (pressure !== undefined) return { word: pressure, tone: 'warn' };
  return schedulable ? { word: 'Ready', tone: 'ok' } : { word: 'Cordoned', tone: 'warn' };
}

/** Formats cores, such as `120m` (thousandths) or `1.5`; a dash if the cluster serves no metrics. */
export function formatCores(cores: number | null): string {
  if (cores === null) return '–';
  return cores < 1 ? `${Math.round(cores * 1000)}m` : String(Math.round(cores * 10) / 10);
}

/** Such as `120m of 4`, or only the capacity if the usage is unknown. */
export function usedOf(used: number | null, whole: number | null, format: (value: number | null) => string): string {
  return used === null ? format(whole) : `${format(used)} of ${format(whole)}`;
}

export function formatMemory(sizeBytes: number | null): string {
  return sizeBytes === null ? '–' : formatBytes(sizeBytes);
}
