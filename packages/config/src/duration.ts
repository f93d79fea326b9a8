import { Type, type TString } from 'typebox';

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$';

/** Schema of a duration such as `30s`, `1h30m` or `250ms`. */
export function durationSchema(options: { default?: string; description: string; env?: string | string[] }): TString {
  return Type.String({ ...options, pattern: PATTERN });
}

/** Parses a duration that passed `durationSchema` into milliseconds; throws on anything else. */
export function parseDurationMs(text: string): number {
  if (!new RegExp(PATTERN).test(text)) throw new Error(`not a duration: ${text}`);
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(?<![0-9.])([0-9.]+)(ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0);
  }
  return Math.round(totalMs);
}
