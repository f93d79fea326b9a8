export interface Pairs {
  pairs: Record<string, string>;
  /** Error of the first invalid line; null if all are valid. */
  fault: string | null;
}

/** Parses `KEY=value` lines, as in `.env` files; `#` begins a comment. Strips quotes around values. */
export function parsePairs(text: string, key: RegExp): Pairs {
  const pairs: Record<string, string> = {};
  let fault: string | null = null;
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    const name = (equals === -1 ? line : line.slice(0, equals)).trim().replace(/^export\s+/, '');
    if (equals === -1) fault ??= `${name} has no value. Use KEY=value.`;
    else if (!key.test(name)) fault ??= `${name === '' ? 'An empty name' : name} is not a valid name.`;
    else pairs[name] = unquoted(line.slice(equals + 1).trim());
  }
  return { pairs, fault };
}

function unquoted(value: string): string {
  const quote = value.at(0);
  const isQuoted = value.length >= 2 && (quote === '"' || quote === "'") && value.at(-1) === quote;
  return isQuoted ? value.slice(1, -1) : value;
}
