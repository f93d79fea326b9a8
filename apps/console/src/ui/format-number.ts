const integer = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a count, such as `12,403`. */
export function formatCount(value: number): string {
  return integer.format(value);
}

/** Splits figure and unit, which have different font sizes: `['1.4', 'GiB']`. */
export function splitBytes(sizeBytes: number): readonly [figure: string, unit: string] {
  let value = sizeBytes;
  let index = 0;
  while (value >= 1024 && index < BYTE_UNITS.length - 1) {
    value /= 1024;
    index += 1;
  }
  const digits = index === 0 || value >= 100 ? 0 : 1;
  return [value.toFixed(digits).replace(/\.0$/, ''), BYTE_UNITS[index] ?? 'B'];
}

/** Formats a percentage, such as `12%`, with one decimal below 10. */
export function formatPercent(value: number): string {
  return `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)}%`;
}
