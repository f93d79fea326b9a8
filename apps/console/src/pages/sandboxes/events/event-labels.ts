import type { SandboxEvent, Webhook } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { reasonLabel } from '../detail/sandbox-labels.ts';

/** A type of event that this version knows. */
export type EventType = NonNullable<Webhook['events']>[number];

const LABELS: Readonly<Record<EventType, readonly [label: string, tone: Tone]>> = {
  created: ['Created', 'neutral'],
  running: ['Running', 'ok'],
  stopped: ['Stopped', 'neutral'],
  error: ['Failed', 'danger'],
  paused: ['Paused', 'accent'],
  resumed: ['Resumed', 'ok'],
  deleted: ['Deleted', 'neutral'],
  snapshot_created: ['Snapshot taken', 'accent'],
  oom_killed: ['Out of memory', 'danger'],
  terminal_opened: ['Terminal opened', 'neutral'],
  terminal_closed: ['Terminal closed', 'neutral'],
  egress_refused: ['Connection blocked', 'warn'],
  draining: ['Node being drained', 'warn'],
  snapshot_failed: ['Snapshot failed', 'danger'],
  moved: ['Moved to another node', 'neutral'],
  restored: ['Restored from a snapshot', 'warn'],
};

export const EVENT_TYPES = Object.keys(LABELS) as EventType[]; // has exactly these keys

/** Label of an event; an unknown type keeps its own name. */
export function eventLabel({ type }: { type: string }): { label: string; tone: Tone } {
  const known: Readonly<Record<string, readonly [label: string, tone: Tone]>> = LABELS;
  const [label, tone] = known[type] ?? [type.replaceAll('_', ' '), 'neutral'];
  return { label, tone };
}

/** Further details in one line, such as a cause. */
export function formatDetails({ details }: Pick<SandboxEvent, 'details'>): string {
  const { message, reason } = details;
  if (typeof message === 'string') return message;
  if (typeof reason === 'string') return reasonLabel(reason) ?? reason;
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '' && value !== false && typeof value !== 'object')
    .toSorted(([one], [other]) => Number(isId(one)) - Number(isId(other)))
    .map(([key, value]) => describeValue(key, value))
    .join(', ');
}

/** Ids come last, since long lines are cut at the end. */
function isId(key: string): boolean {
  return key.endsWith('_id');
}

function describeValue(key: string, value: unknown): string {
  if (key.endsWith('_bytes') && typeof value === 'number') {
    return `${key.slice(0, -'_bytes'.length).replaceAll('_', ' ')} ${formatBytes(value)}`;
  }
  return `${key.replaceAll('_', ' ')} ${String(value)}`;
}
