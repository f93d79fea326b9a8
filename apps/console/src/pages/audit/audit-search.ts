import type { AuditFilters } from '../../api/queries.ts';

export type AuditPeriod = '1h' | '24h' | '7d' | '30d';

/** The filters are in the URL, so that a result can be shared. */
export interface AuditSearch {
  /** `account`: entries about the signed-in user, inside and outside of workspaces. Defaults to the workspace. */
  of?: 'account';
  actor?: string;
  action?: string;
  period?: AuditPeriod;
}

const HOUR_MS = 60 * 60 * 1000;
const PERIODS_MS: Readonly<Record<AuditPeriod, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { of, actor, action, period } = search;
  return {
    ...(of === 'account' && { of }),
    ...(typeof actor === 'string' && actor !== '' && { actor }),
    ...(typeof action === 'string' && action !== '' && { action }),
    ...(isPeriod(period) && { period }),
  };
}

/** Rounded to minutes, so that repeated queries within a minute are identical. */
export function filtersOf(search: AuditSearch, nowMs: number): AuditFilters {
  const { actor, action, period } = search;
  if (period === undefined) return { actor, action };
  const sinceMs = nowMs - PERIODS_MS[period];
  return { actor, action, since: new Date(sinceMs - (sinceMs % 60_000)).toISOString() };
}

function isPeriod(value: unknown): value is AuditPeriod {
  return typeof value === 'string' && Object.hasOwn(PERIODS_MS, value);
}
