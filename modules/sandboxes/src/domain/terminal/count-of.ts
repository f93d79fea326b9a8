/** Reads a count from the helper; anything invalid counts as 0. */
export function parseCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
