import { BuildFault } from './build-sandbox.ts';

/** One place of a pattern; null stands for `*`. */
type Token = ((character: string) => boolean) | null;

/**
 * Parses a wildcard of a Dockerfile (Go's filepath.Match): `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before a literal character.
 * Returns the function that matches a name in time proportional to pattern times name, because tenants choose both.
 * Throws BuildFault for a class that is empty or not closed.
 */
export function parseWildcard(pattern: string): (name: string) => boolean {
  const tokens = parseTokens(pattern);
  return (name) => matches(tokens, [...name]);
}

function parseTokens(pattern: string): Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === '*') {
      if (tokens.at(-1) !== null) tokens.push(null);
    } else if (character === '?') {
      tokens.push(() => true);
    } else if (character === '[') {
      const end = endOfClass(characters, index + (characters[index + 1] === '^' ? 2 : 1));
      if (end === null) throw new BuildFault(`${pattern.slice(0, 200)}: a [ is not closed`);
      tokens.push(parseClass(characters.slice(index + 1, end)));
      index = end;
    } else {
      if (character === '\\') index += 1;
      const literal = characters[index] ?? '\\';
      tokens.push((each) => each === literal);
    }
  }
  return tokens;
}

/** The first character of a class is never its end. */
function endOfClass(characters: readonly string[], first: number): number | null {
  for (let index = first; index < characters.length; index += 1) {
    if (characters[index] === ']' && index > first) return index;
    if (characters[index] === '\\') index += 1;
  }
  return null;
}

function parseClass(characters: readonly string[]): (character: string) => boolean {
  const isNegated = characters[0] === '^';
  const ranges: (readonly [number, number])[] = [];
  for (let index = isNegated ? 1 : 0; index < characters.length; index += 1) {
    if (characters[index] === '\\') index += 1;
    const from = codeOf(characters[index]);
    if (characters[index + 1] === '-' && index + 2 < characters.length) {
      ranges.push([from, codeOf(characters[index + 2])]);
      index += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  return (character) => {
    const code = codeOf(character);
    return ranges.some(([from, to]) => from <= code && code <= to) !== isNegated;
  };
}

function codeOf(character: string | undefined): number {
  return character?.codePointAt(0) ?? -1;
}

/** Goes back to the last `*` only: an earlier one could match nothing that the last one cannot. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === null) {
      star = token;
      starAt = at;
      token += 1;
    } else if (wanted?.(name[at] ?? '') === true) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      token = star + 1;
      starAt += 1;
      at = starAt;
    } else {
      return false;
    }
  }
  while (tokens[token] === null) token += 1;
  return token === tokens.length;
}
