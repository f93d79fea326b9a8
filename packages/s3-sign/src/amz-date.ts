const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Parses `yyyymmddThhmmssZ` to milliseconds. Null for anything else, including dates such as February 31. */
export function parseAmzDate(amzDate: string): number | null {
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

/** Formats milliseconds as `yyyymmddThhmmssZ`. */
export function toAmzDate(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}
