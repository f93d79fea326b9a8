import type { EventReport, EventType } from '@svc/protocol';

/** An event of the contract before it has a sequence and time. */
export interface ClusterEvent {
  type: EventType;
  /** Empty for cluster-scoped objects. */
  namespace: string;
  /** `kind/name` in lower case, as in kubectl. */
  resource: string;
  details: Record<string, string>;
}

/** Omits empty values and truncates long ones: a kubelet's message may be pages long. */
export function detailsOf(entries: Record<string, string | number | undefined>): Record<string, string> {
  const details: Record<string, string> = {};
  for (const [name, value] of Object.entries(entries)) {
    if (value !== undefined && value !== '') details[name] = String(value).slice(0, 1000);
  }
  return details;
}

export function reportOf({ type, ...rest }: ClusterEvent, at: Date): Omit<EventReport, 'seq'> {
  return { event_type: type, ...rest, occurred_at: at.toISOString() };
}
