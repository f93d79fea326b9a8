import type { AuditRecord } from '../records.ts';

/** Rows that the retention removed on one day by one rule. */
export interface PurgedDay {
  /** Date in UTC. */
  day: string;
  rows: number;
  /** The last number that went. */
  through: number;
  /** Times of the oldest and the newest row that went. */
  oldest: string;
  newest: string;
  /** Such as `accounts.audit_retention_days: 365`. */
  rule: string;
}

/** Everything that the retention removed since the log began, or since platforms note it. */
export interface PurgedRows {
  rows: number;
  /** The latest days, oldest first. */
  days: readonly PurgedDay[];
}

const DAYS_KEPT = 62;

/** One more purge: those of one day by one rule are one entry. */
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

/** From the text that is sealed with the beginning of the log. */
export function parsePurged(text: string | null): PurgedRows | null {
  return text === null ? null : (JSON.parse(text) as PurgedRows); // written by this module, and its seal was checked
}
