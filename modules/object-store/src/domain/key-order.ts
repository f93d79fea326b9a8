/**
 * Keys are ordered by their UTF-8 bytes, which is code point order. JavaScript compares UTF-16 units, which differs
 * where surrogates (above U+FFFF) meet U+E000 to U+FFFF.
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
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800; // surrogates sort after everything else
}

/** The smallest text greater than every text that starts with `prefix`. Null if there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === 0x10ffff) continue;
    const next = code === 0xd7ff ? 0xe000 : code + 1; // skip the surrogates, which are not characters
    return points.join('') + String.fromCodePoint(next);
  }
  return null;
}

/** The common prefix of the key under a delimiter. Null if the key is listed itself. */
export function commonPrefixOf(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === '') return null;
  const at = key.indexOf(delimiter, prefix.length);
  return at === -1 ? null : key.slice(0, at + delimiter.length);
}
