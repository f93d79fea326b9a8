import type { AnswerOf } from './operations.ts';

/** Usage over time. Periods without a running platform or without the bucket have no point. */
export type Usage = AnswerOf<'GET /usage'>;
/**
 * One hour or day. Stored amounts are as of its end, or of the last sample before; all others are totals within it.
 */
export type UsagePoint = Usage['points'][number];
/** Length of a period. */
export type UsageResolution = Usage['resolution'];

/** Scope and period of a usage report. */
export interface UsageQuery {
  /** Defaults to the whole workspace. */
  bucket?: string | undefined;
  /** Defaults to 48 hours, or 30 days, before `to`. */
  from?: Date | undefined;
  /** Defaults to now. At most 1,000 hours or days after `from`. */
  to?: Date | undefined;
  /** Defaults to `day`. */
  resolution?: UsageResolution | undefined;
}
