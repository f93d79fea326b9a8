const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
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

/** A Kubernetes quantity (`250m`, `1Gi`, `1e3`) as a number; null when it is none. */
export function parseQuantity(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const match = /^([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i))?$/.exec(value);
  if (match === null) return null;
  const [, digits = '', exponent = '', suffix = ''] = match;
  return Number(`${digits}${exponent}`) * (FACTORS[suffix] ?? 1);
}
