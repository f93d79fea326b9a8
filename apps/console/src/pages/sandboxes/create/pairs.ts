export interface Pairs {
  pairs: Record<string, string>;
  /** What is wrong with the first line that is not right; null when all are. */
  fault: string | null;
}

/** `KEY=value`, one a line, as in the file `.env`; what begins with `#` is a note. Quotes around a value are taken off. */
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
