/** Output of a command: results on stdout, everything else on stderr. */
export class Output {
  readonly json: boolean;
  readonly #stdout: NodeJS.WritableStream;
  readonly #stderr: NodeJS.WritableStream;

  constructor(options: { json: boolean; stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream }) {
    this.json = options.json;
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
  }

  /** Prints the result: as JSON if requested, otherwise as the given lines. */
  answer(value: unknown, lines: readonly string[]): void {
    if (this.json) this.#stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    else for (const line of lines) this.#stdout.write(`${line}\n`);
  }

  /** Prints one entry of a possibly long list, as a line of JSON or text. */
  entry(value: unknown, line: string): void {
    this.#stdout.write(`${this.json ? JSON.stringify(value) : line}\n`);
  }

  /** Prints a line for people; nothing in JSON mode. */
  note(line: string): void {
    if (!this.json) this.#stdout.write(`${line}\n`);
  }

  warn(line: string): void {
    this.#stderr.write(`svc: ${line}\n`);
  }

  answerTable(value: unknown, columns: readonly string[], rows: readonly (readonly string[])[]): void {
    this.answer(value, rows.length === 0 ? [] : renderTable(columns, rows));
  }
}

export function renderTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [columns, ...rows.map((row) => row.map(printable))];
  const widths = columns.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Escapes characters that could control the terminal or fake another line, for untrusted names. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
    return escapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Formats a size: `1536` -> `1.5 KiB`. */
export function renderBytes(sizeBytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = sizeBytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
