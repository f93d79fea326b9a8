import type { Terminal } from '@xterm/headless';
import { boundedTerminal, MAX_CELLS, scrollbackOf } from './bounded-terminal.ts';
import { drawScreen } from './draw-screen.ts';
import { internalsOf } from './terminal-internals.ts';

const GROUND = 0;
const SLICE_BYTES = 4096;
const MAX_TITLE_CHARACTERS = 256;
const MAX_UNFINISHED_BYTES = 64 * 1024;
const MAX_DRAWN_BYTES = 4 * 1024 * 1024;
/** Maximum number of bytes searched for a line end after a gap. */
const MAX_SKIPPED_BYTES = 8 * 1024;
const [LINE_FEED, ESCAPE] = [0x0a, 0x1b];
/** Cancels a sequence cut off by a gap (ECMA-48, 8.3.11: CAN in a sequence cancels it). */
const CANCEL = Uint8Array.of(0x18);

/** The screen of one session, built from the bytes of its terminal. */
export class Screen {
  readonly #terminal: Terminal;
  #title = '';
  /** An unfinished escape sequence or a partial character. */
  #unfinished: Uint8Array = new Uint8Array();
  #isBehindGap = false;
  #skippedBytes = 0;

  constructor(cols: number, rows: number) {
    this.#terminal = boundedTerminal(cols, rows);
    this.#terminal.onTitleChange((title) => {
      this.#title = title.replaceAll(/\p{Cc}/gu, '').slice(0, MAX_TITLE_CHARACTERS);
    });
  }

  static fits(cols: number, rows: number): boolean {
    return cols * rows <= MAX_CELLS;
  }

  resize(cols: number, rows: number): void {
    this.#terminal.options.scrollback = scrollbackOf(cols, rows);
    this.#terminal.resize(Math.max(2, cols), Math.max(1, rows));
  }

  /** Marks missing bytes at this point. */
  gap(): void {
    internalsOf(this.#terminal).writeSync(CANCEL);
    this.#unfinished = new Uint8Array();
    this.#isBehindGap = true;
    this.#skippedBytes = 0;
  }

  /** Returns false if `isEnough` stopped it between two slices. */
  feed(bytes: Uint8Array, isEnough: () => boolean): boolean {
    const core = internalsOf(this.#terminal);
    const whole = this.#isBehindGap ? this.#behind(bytes) : bytes;
    for (let start = 0; start < whole.length; start += SLICE_BYTES) {
      const slice = whole.subarray(start, start + SLICE_BYTES);
      core.writeSync(slice);
      this.#note(slice);
      if (isEnough()) return false;
    }
    return true;
  }

  /** Returns null if even the screen without scrollback is too large to send. */
  draw(): Uint8Array | null {
    for (const scrollback of [Number.MAX_SAFE_INTEGER, 0]) {
      const drawn = Buffer.from(drawScreen(this.#terminal, scrollback, this.#title), 'utf8');
      if (drawn.length <= MAX_DRAWN_BYTES) return Buffer.concat([drawn, this.#unfinished]);
    }
    return null;
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  /** Resumes after the next line end; on the alternate screen, at the next escape sequence. */
  #behind(bytes: Uint8Array): Uint8Array {
    const isLines = this.#terminal.buffer.active.type === 'normal';
    const at = bytes.indexOf(isLines ? LINE_FEED : ESCAPE);
    const mostBytes = MAX_SKIPPED_BYTES - this.#skippedBytes;
    if ((at === -1 ? bytes.length : at) > mostBytes) {
      this.#isBehindGap = false;
      return bytes.subarray(mostBytes);
    }
    if (at === -1) {
      this.#skippedBytes += bytes.length;
      return new Uint8Array();
    }
    this.#isBehindGap = false;
    if (isLines) internalsOf(this.#terminal).writeSync(Buffer.from('\r'));
    return bytes.subarray(at);
  }

  /** Remembers the bytes that a viewer needs to interpret those that follow. */
  #note(slice: Uint8Array): void {
    if (internalsOf(this.#terminal).parserState === GROUND) {
      this.#unfinished = partOfCharacter(Buffer.concat([this.#unfinished, slice]));
      return;
    }
    const begun = slice.lastIndexOf(ESCAPE);
    const held = begun === -1 ? Buffer.concat([this.#unfinished, slice]) : Buffer.from(slice.subarray(begun));
    // The rest of a longer sequence has the same effect after its beginning.
    this.#unfinished = held.subarray(0, MAX_UNFINISHED_BYTES);
  }
}

/** Returns a partial UTF-8 sequence at the end of the bytes (RFC 3629, section 3), or nothing. */
function partOfCharacter(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? Uint8Array.from(bytes.subarray(bytes.length - back)) : new Uint8Array();
  }
  return new Uint8Array();
}
