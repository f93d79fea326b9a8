import type { AuditRecord } from '../records.ts';

/** Rows that retention removed on one day by one rule. */
export interface PurgedDay {
  /** Date in UTC. */
  day: string;
  rows: number;
  /** Highest sequence removed. */
  through: number;
  /** Times of the oldest and the newest removed row. */
  oldest: string;
  newest: string;
  /** For example `accounts.audit_retention_days: 365`. */
  rule: string;
}

/** Everything that retention has removed since the log began, or since this record exists. */
export interface PurgedRows {
  rows: number;
  /** The most recent days, oldest first. */
  days: readonly PurgedDay[];
}

const DAYS_KEPT = 62;

/** Adds a purge, merged into the entry of its day and rule. */
export function addPurge(
  before: PurgedRows | null,
  removed: readonly AuditRecord[],
  { purgedAt, rule }: { purgedAt: string; rule: string },
): PurgedRows {
  const [first, last] = [removed[0], removed.at(-1)];
  if (first === undefined || last === undefined) return before ?? { rows: 0, days: [] };
  const day = purgedAt.slice(0, 10);
  const earlier = before?.days ?? [];
  const same = earlier.at(-1);
  const joins = same?.day === day && same.rule === rule;
  const added: PurgedDay = {
    day,
    rows: removed.length + (joins ? same.rows : 0),
    through: last.sequence,
    oldest: joins ? same.oldest : first.occurredAt,
    newest: last.occurredAt,
    rule,
  };
  const days = [...(joins ? earlier.slice(0, -1) : earlier), added].slice(-DAYS_KEPT);
  return { rows: (before?.rows ?? 0) + removed.length, days };
}

/** Parses the text sealed with the beginning of the log. */
export function parsePurged(text: string | null): PurgedRows | null {
  return text === null ? null : (JSON.parse(text) as PurgedRows); // written by this module; its seal has been verified
}
