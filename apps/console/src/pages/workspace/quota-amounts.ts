import type { QuotaState } from '@svc/sdk';
import { formatBytes, parseBytes, writeBytes } from '../../ui/format-bytes.ts';
import { formatCount } from '../../ui/format-number.ts';

const MIB = 1024 ** 2;
const fraction = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

type Unit = QuotaState['unit'];

/** Formats an amount, such as `1.5 GiB`, `2,000 per second` or `12`. */
export function amountText(unit: Unit, amount: number): string {
  switch (unit) {
    case 'bytes':
      return formatBytes(amount);
    case 'mib':
      return formatBytes(amount * MIB);
    case 'cpus':
      return fraction.format(amount);
    case 'per_second':
      return `${formatCount(amount)} per second`;
    case 'per_minute':
      return `${formatCount(amount)} per minute`;
    case 'count':
      return formatCount(amount);
  }
}

/** Value for a field; empty means unlimited. */
export function limitDraft({ unit, limit }: Pick<QuotaState, 'unit' | 'limit'>): string {
  if (limit === null) return '';
  if (unit === 'bytes') return writeBytes(limit);
  return unit === 'mib' ? writeBytes(limit * MIB) : String(limit);
}

/** Parses a field's value; returns the error if invalid. */
export function parseDraft(unit: Unit, text: string): { limit: number | null } | { fault: string } {
  if (text.trim() === '') return { limit: null };
  if (unit === 'bytes' || unit === 'mib') {
    const bytes = parseBytes(text);
    const limit = bytes === null ? null : bytes / (unit === 'mib' ? MIB : 1);
    return limit === null || !Number.isInteger(limit) ? { fault: 'Enter a size, for example 10 GiB.' } : { limit };
  }
  const limit = Number(text);
  const fits = Number.isFinite(limit) && limit >= 0 && (unit === 'cpus' || Number.isInteger(limit));
  return fits ? { limit } : { fault: unit === 'cpus' ? 'Enter a number of CPUs.' : 'Enter a whole number.' };
}
