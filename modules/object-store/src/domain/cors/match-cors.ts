import type { CorsRule } from '../settings/shared-documents.ts';

export interface CorsQuestion {
  origin: string;
  method: string;
  /** Lower-case names of the request headers that a preflight announces. */
  headers: readonly string[];
}

export interface CorsMatch {
  /** `*`, or the origin itself. */
  allowedOrigin: string;
  rule: CorsRule;
}

/** Returns the first rule that allows the origin, the method and every header. Null if none does. */
export function matchCors(rules: readonly CorsRule[], { origin, method, headers }: CorsQuestion): CorsMatch | null {
  for (const rule of rules) {
    const pattern = rule.allowedOrigins.find((candidate) => matchesPattern(candidate, origin));
    if (pattern === undefined || !rule.allowedMethods.some((allowed) => allowed === method)) continue;
    if (!headers.every((name) => allowsHeader(rule, name))) continue;
    return { allowedOrigin: pattern === '*' ? '*' : origin, rule };
  }
  return null;
}

function allowsHeader(rule: CorsRule, name: string): boolean {
  return rule.allowedHeaders.some((pattern) => matchesPattern(pattern.toLowerCase(), name));
}

/** One `*` matches any text, including none. */
function matchesPattern(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1) return pattern === text;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
