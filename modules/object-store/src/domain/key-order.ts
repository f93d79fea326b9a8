/**
 * Keys are ordered by the bytes of their UTF-8, which is the order of code points. JavaScript compares UTF-16 units,
 * which differs where surrogates (above U+FFFF) meet U+E000 to U+FFFF.
 */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800; // surrogates come after everything else
}

/** The least text that is greater than every text which starts with `prefix`; null when there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === 0x10ffff) continue;
    const next = code === 0xd7ff ? 0xe000 : code + 1; // the surrogates between are not characters
    return points.join('') + String.fromCodePoint(next);
  }
  return null;
}

/** What a delimiter rolls the key up to, or null when it shows as itself. */
export function commonPrefixOf(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === '') return null;
  const at = key.indexOf(delimiter, prefix.length);
  return at === -1 ? null : key.slice(0, at + delimiter.length);
}
