import { fromHttpDate } from '../../domain/http-date.ts';
import type { RequestHeaders } from '../request-headers.ts';

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Parses `yyyymmddThhmmssZ` to milliseconds. Null for anything else, including dates such as February 31. */
export function timeOfAmzDate(amzDate: string): number | null {
  const parsed = AMZ_DATE.exec(amzDate);
  if (parsed === null) return null;
  const [, year, month, day, hour, minute, second] = parsed;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const time = new Date(
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)),
  );
  const sameDay = time.getUTCMonth() + 1 === Number(month) && time.getUTCDate() === Number(day);
  return sameDay && time.getUTCFullYear() === Number(year) ? time.getTime() : null;
}

/** When a request was signed: `x-amz-date`, else `Date`. Null if it has neither. */
export function amzDateOf(headers: RequestHeaders): string | null {
  const own = headers.get('x-amz-date');
  if (own !== undefined) return own;
  const date = headers.get('date') ?? '';
  if (AMZ_DATE.test(date)) return date;
  const timeMs = /^[A-Z][a-z]{2}, \d/.test(date) ? fromHttpDate(date) : null; // `Date.parse` alone accepts any number
  return timeMs === null ? null : toAmzDate(timeMs);
}

function toAmzDate(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}
