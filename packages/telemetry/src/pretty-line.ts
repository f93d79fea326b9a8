/** Fields shown elsewhere in the line, or irrelevant to the person who started the process. */
const PLACED: ReadonlySet<string> = new Set(['level', 'time', 'name', 'msg', 'err']);
const COLORS: Readonly<Record<string, string>> = { debug: '2', info: '32', warn: '33', error: '31', fatal: '31' };

/**
 * Formats a JSON log line for people: time of day, level, message, fields; below it an error's causes, and its stack at
 * levels that require attention. Returns anything else unchanged.
 */
export function prettyLine(json: string, colors: boolean): string {
  const fields = parsed(json);
  if (fields === null) return json;
  const paint = (code: string, text: string): string => (colors ? `\u001b[${code}m${text}\u001b[0m` : text);
  const level = textAt(fields, 'level');
  const time = textAt(fields, 'time').slice(11, 23);
  const head = [
    paint('2', time),
    paint(COLORS[level] ?? '0', level.toUpperCase().padEnd(5)),
    printable(textAt(fields, 'msg')),
    ...Object.entries(fields).flatMap(([name, value]) =>
      PLACED.has(name) ? [] : [paint('2', `${name}=`) + shown(value)],
    ),
  ];
  const below = errorLines(fields['err'], level === 'error' || level === 'fatal');
  return `${[head.join(' '), ...below.map((line) => paint('2', `    ${line}`))].join('\n')}\n`;
}

function errorLines(error: unknown, withStack: boolean): string[] {
  if (!isRecord(error)) return error === undefined ? [] : [shown(error)];
  const code = textAt(error, 'code');
  const message = printable(textAt(error, 'message'));
  const stack = textAt(error, 'stack')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `  ${printable(line.trim())}`);
  const cause = errorLines(error['cause'], withStack).map((line, index) => (index === 0 ? `caused by ${line}` : line));
  return [code === '' ? message : `${printable(code)}: ${message}`, ...(withStack ? stack : []), ...cause];
}

/** Shows a plain word unquoted, anything else as JSON. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@%+-]+$/.test(value)) return value;
  return printable(JSON.stringify(value));
}

/** Escapes characters that would control a terminal or look like another line. */
function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function parsed(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function textAt(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
