/** Modes (DECSET) that spoil a terminal if a program leaves them on. */
const RESET_WHEN_ON: ReadonlySet<string> = new Set([
  '1', // application cursor keys
  '47',
  '1047',
  '1049', // alternate screen
  '1000',
  '1002',
  '1003',
  '1005',
  '1006',
  '1015', // mouse
  '1004', // focus
  '2004', // bracketed paste
]);
const CURSOR = '25';
const ESCAPE = '\u001b';
const SEQUENCE = new RegExp(`${ESCAPE}\\[\\?([0-9;]{1,32})([hl])`, 'g');
const LONGEST_SEQUENCE = 40;

/** Tracks terminal modes in the output, to undo those left on. */
export class PrivateModes {
  readonly #on = new Set<string>();
  #rest = '';

  see(bytes: Uint8Array): void {
    const text = this.#rest + Buffer.from(bytes).toString('latin1');
    for (const [, numbers = '', verb] of text.matchAll(SEQUENCE)) {
      for (const mode of numbers.split(';')) {
        // Unlike the others, the cursor is on by default.
        const spoils = mode === CURSOR ? verb === 'l' : verb === 'h';
        if (spoils && (mode === CURSOR || RESET_WHEN_ON.has(mode))) this.#on.add(mode);
        else this.#on.delete(mode);
      }
    }
    this.#rest = text.slice(-LONGEST_SEQUENCE);
  }

  /** Returns the output that restores the terminal; empty if nothing changed. */
  undo(): string {
    const modes = [...this.#on];
    this.#on.clear();
    if (modes.length === 0) return '';
    return `${modes.map((mode) => `\u001b[?${mode}${mode === CURSOR ? 'h' : 'l'}`).join('')}\u001b[0m`;
  }
}
