/** Divisors rather than inverse factors, so that `1900m` is exactly 1.9. */
const DIVISORS: Readonly<Record<string, number>> = { n: 1e9, u: 1e6, m: 1e3 };
const FACTORS: Readonly<Record<string, number>> = {
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const QUANTITY = /^([+-]?\d{1,20}(?:\.\d{0,20})?|[+-]?\.\d{1,20})(?:([eE][+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i))?$/;

/** Parses a Kubernetes quantity (`250m`, `1Gi`, `1e3`); null if invalid. */
export function parseQuantity(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const [, digits, exponent = '', suffix = ''] = typeof value === 'string' ? (QUANTITY.exec(value) ?? []) : [];
  if (digits === undefined) return null;
  return (Number(`${digits}${exponent}`) * (FACTORS[suffix] ?? 1)) / (DIVISORS[suffix] ?? 1);
}
