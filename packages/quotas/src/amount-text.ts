import { MAX_LIMIT, type Limit, type QuotaUnit } from './quota.ts';

const MIB = 1024 ** 2;
const SIZES: readonly (readonly [suffix: string, bytes: number])[] = [
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', MIB],
  ['KiB', 1024],
];

/** Bytes per unit; null for units that are not sizes. */
function bytesIn(unit: QuotaUnit): number | null {
  if (unit === 'bytes') return 1;
  return unit === 'mib' ? MIB : null;
}

/**
 * Parses a limit: `20`, `unlimited`, or `10GiB` for quotas of bytes and MiB. Undefined if invalid. Only CPUs accept
 * fractions.
 */
export function parseLimit(unit: QuotaUnit, text: string): Limit | undefined {
  if (text === 'unlimited') return null;
  const [, digits = '', suffix = ''] = /^(\d+(?:\.\d+)?) ?([KMGT]iB)?$/.exec(text) ?? [];
  const perUnit = bytesIn(unit);
  if (digits === '' || (suffix !== '' && perUnit === null)) return undefined;
  const size = SIZES.find(([name]) => name === suffix)?.[1];
  const amount = size === undefined ? Number(digits) : (Number(digits) * size) / (perUnit ?? 1);
  const whole = unit === 'cpus' || Number.isInteger(amount);
  return whole && amount <= MAX_LIMIT ? amount : undefined;
}

/** Formats an amount: `1.5 GiB`, `20`, `8/s`, `unlimited`. */
export function formatAmount(unit: QuotaUnit, amount: Limit): string {
  if (amount === null) return 'unlimited';
  const perUnit = bytesIn(unit);
  if (perUnit === null) return `${amount}${unit === 'per_second' ? '/s' : unit === 'per_minute' ? '/min' : ''}`;
  const bytes = amount * perUnit;
  const size = SIZES.find(([, each]) => bytes >= each);
  return size === undefined ? `${bytes} B` : `${Number((bytes / size[1]).toFixed(1))} ${size[0]}`;
}
