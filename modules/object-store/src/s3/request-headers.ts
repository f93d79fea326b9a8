/** The raw headers: every value of a name, in order. Node joins some and drops others, which would break signatures. */
export class RequestHeaders {
  readonly #values = new Map<string, string[]>();

  constructor(rawHeaders: readonly string[]) {
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index]?.toLowerCase() ?? '';
      const value = rawHeaders[index + 1] ?? '';
      const known = this.#values.get(name);
      if (known === undefined) this.#values.set(name, [value]);
      else known.push(value);
    }
  }

  /** All values of the name, trimmed and joined by commas. Undefined if it was not sent. */
  get(name: string): string | undefined {
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    return values.length === 1 ? values[0]?.trim() : values.map((value) => value.trim()).join(',');
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }
}
