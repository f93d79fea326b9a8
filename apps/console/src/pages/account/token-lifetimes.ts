import type { SelectOption } from '../../ui/select.tsx';

const DAY_MS = 24 * 60 * 60 * 1000;

export type TokenLifetime = '7' | '30' | '90' | '365' | 'never';

export const TOKEN_LIFETIMES: readonly SelectOption<TokenLifetime>[] = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'never', label: 'No expiration', description: 'Valid until revoked' },
];

/** ISO 8601, or undefined for a token that never expires. */
export function expiryOf(lifetime: TokenLifetime, nowMs: number): string | undefined {
  return lifetime === 'never' ? undefined : new Date(nowMs + Number(lifetime) * DAY_MS).toISOString();
}
