const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

const YEAR_SECONDS = 365 * 86_400;
const relative = new Intl.RelativeTimeFormat('en', { style: 'short' });
const absolute = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const day = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** Formats a time of day, such as `10:04:31`. */
export function formatClock(atMs: number): string {
  return clock.format(atMs);
}

/** Formats a date and time, such as `21 Nov, 10:04`. */
export function formatMoment(atMs: number): string {
  return moment.format(atMs);
}

/**
 * Formats a relative time, such as `5 min ago` or `in 3 days`; `just now` within a minute, and the date beyond a
 * year.
 */
export function formatRelative(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  if (Math.abs(seconds) >= YEAR_SECONDS) return day.format(atMs);
  for (const [unit, length] of UNITS) {
    // Slightly less than a whole unit counts as one, so that 60 minutes are 1 hour.
    if (Math.abs(seconds) < length * 0.99) continue;
    return relative.format(Math.round(seconds / length), unit).replace('.', '');
  }
  // The page's clock ticks every few seconds, so new items may be slightly ahead of it.
  return seconds > 20 ? 'in a moment' : 'just now';
}

/** Formats an exact date and time, such as `21 Nov 2026, 10:04:31`. */
export function formatAbsolute(at: string): string {
  return absolute.format(new Date(at));
}

/** Formats a duration such as an uptime: `3 d 4 h`. */
export function formatDuration(totalSeconds: number): string {
  const days = Math.floor(totalSeconds / 86_400);
  const hours = Math.floor(totalSeconds / 3600) % 24;
  const minutes = Math.floor(totalSeconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : 'less than a minute';
}
