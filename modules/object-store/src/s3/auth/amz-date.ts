import { fromHttpDate } from '../../domain/http-date.ts';
import type { RequestHeaders } from '../request-headers.ts';

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** `yyyymmddThhmmssZ` in milliseconds; null for anything else, a 31st of February too. */
export function timeOfAmzDate(amzDate: string): number | null {
  const parsed = AMZ_DATE.exec(amzDate);
  if (parsed === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parsed.slice(1).map(Number);
  const timeMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return toAmzDate(timeMs) === amzDate ? timeMs : null;
}

/** When a request says it was signed: `x-amz-date`, else `Date`. Null when neither says. */
export function amzDateOf(headers: RequestHeaders): string | null {
  const own = headers.get('x-amz-date');
  if (own !== undefined) return own;
  const date = headers.get('date') ?? '';
  if (AMZ_DATE.test(date)) return date;
  const timeMs = /^[A-Z][a-z]{2}, \d/.test(date) ? fromHttpDate(date) : null; // `Date.parse` alone takes any number
  return timeMs === null ? null : toAmzDate(timeMs);
}

function toAmzDate(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}
