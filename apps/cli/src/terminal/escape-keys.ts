/** An action of the CLI itself, triggered by an escape sequence. */
export type EscapeAction = 'end' | 'detach' | 'help';

export interface TypedKeys {
  /** Input for the shell. */
  bytes: Uint8Array;
  /** If set, later input does not reach the shell. */
  action: EscapeAction | null;
}

const ACTIONS: Readonly<Record<string, EscapeAction>> = { '.': 'end', d: 'detach', '?': 'help' };
const RETURN = 0x0d;
const NEWLINE = 0x0a;

/**
 * As in ssh, at the beginning of a line: `~.` ends, `~d` detaches from the session, `~?` shows help, and `~~` sends a
 * `~`. Any other key is sent to the shell together with its `~`.
 */
export class EscapeKeys {
  readonly #escape: number | null;
  #atLineStart = true;
  #isPending = false;

  /** Null disables escape sequences. */
  constructor(escape: string | null) {
    this.#escape = escape === null ? null : escape.charCodeAt(0);
  }

  type(typed: Uint8Array): TypedKeys {
    if (this.#escape === null) return { bytes: typed, action: null };
    const bytes: number[] = [];
    for (const byte of typed) {
      if (this.#isPending) {
        this.#isPending = false;
        const action = ACTIONS[String.fromCharCode(byte)];
        if (action !== undefined) {
          this.#atLineStart = action === 'help';
          return { bytes: Uint8Array.from(bytes), action };
        }
        bytes.push(this.#escape);
        if (byte === this.#escape) {
          this.#atLineStart = false;
          continue;
        }
      } else if (this.#atLineStart && byte === this.#escape) {
        this.#isPending = true;
        continue;
      }
      bytes.push(byte);
      this.#atLineStart = byte === RETURN || byte === NEWLINE;
    }
    return { bytes: Uint8Array.from(bytes), action: null };
  }
}
