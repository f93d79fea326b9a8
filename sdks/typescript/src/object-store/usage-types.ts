import type { AnswerOf } from './operations.ts';

/** Periods in which the platform did not run, or the bucket was not there, have no point. */
export type Usage = AnswerOf<'GET /usage'>;
/** One hour or day. What is stored: as it was at its end, or at the last look before; the rest: within it. */
export type UsagePoint = Usage['points'][number];
export type UsageResolution = Usage['resolution'];

export interface UsageQuery {
  /** Default: all of the workspace. */
  bucket?: string | undefined;
  /** Default: 48 hours, or 30 days, before `to`. */
  from?: Date | undefined;
  /** Default: now. At most 1,000 hours or days after `from`. */
  to?: Date | undefined;
  /** Default: `day`. */
  resolution?: UsageResolution | undefined;
}
