/**
 * Matches a text against a pattern: `*` is any run of characters, `?` any single one. Backtracks only to the latest
 * star, so that no pattern is slow.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let [at, inPattern, star, resume] = [0, 0, -1, 0];
  while (at < text.length) {
    const expected = pattern[inPattern];
    if (expected === '*') {
      star = inPattern;
      resume = at;
      inPattern += 1;
    } else if (expected === '?' || expected === text[at]) {
      at += 1;
      inPattern += 1;
    } else if (star !== -1) {
      inPattern = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
}
