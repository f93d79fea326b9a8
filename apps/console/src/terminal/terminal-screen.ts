import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Terminal } from '@xterm/xterm';
import { TERMINAL_THEMES } from './terminal-theme.ts';
import { openWithinPolicy } from './within-policy.ts';

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** Receiver of keyboard input. */
export interface Keyboard {
  input: (bytes: Uint8Array) => void;
  resize: (size: TerminalSize) => void;
}

export interface TerminalScreenOptions {
  theme: 'light' | 'dark';
  readOnly: boolean;
  onFind: () => void;
  onLeave: () => void;
}

const FONT = '"Geist Mono Variable", ui-monospace, "SF Mono", Menlo, monospace';
const FONT_PIXELS = 13;
const SCROLLBACK_LINES = 10_000;
const MOST_PENDING_BYTES = 256 * 1024;

/** Displays a terminal and handles its keys, independent of the connection. */
export class TerminalScreen {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #watch: ResizeObserver;
  #replaying = 0;
  #disposed = false;
  #pendingBytes = 0;

  /** `place` must be in the document and the font loaded, since both are measured. */
  constructor(place: HTMLElement, options: TerminalScreenOptions) {
    this.#terminal = new Terminal({
      allowProposedApi: true,
      cursorBlink: true,
      disableStdin: options.readOnly,
      fontFamily: FONT,
      fontSize: FONT_PIXELS,
      lineHeight: 1.25,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      rightClickSelectsWord: false,
      scrollback: SCROLLBACK_LINES,
      theme: TERMINAL_THEMES[options.theme],
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.loadAddon(this.#search);
    openWithinPolicy(() => this.#terminal.open(place));
    this.#terminal.attachCustomKeyEventHandler((event) => this.#handleKey(event, options));
    // Such as Ctrl+K, which clears a line here and is a console shortcut elsewhere.
    place.addEventListener('keydown', (event) => {
      if (!event.metaKey) event.stopPropagation();
    });
    this.#fill();
    this.#watch = new ResizeObserver(() => this.#fill());
    this.#watch.observe(place);
  }

  get size(): TerminalSize {
    return { cols: this.#terminal.cols, rows: this.#terminal.rows };
  }

  attach({ input, resize }: Keyboard): void {
    const encoder = new TextEncoder();
    // Queries in replayed output were already answered.
    this.#terminal.onData((text) => this.#replaying === 0 && input(encoder.encode(text)));
    this.#terminal.onBinary((text) => this.#replaying === 0 && input(latin1(text)));
    this.#terminal.onResize(({ cols, rows }) => resize({ cols, rows }));
  }

  /** Resolves when there is room for more, so that the sandbox stays only slightly ahead of the screen. */
  write(bytes: Uint8Array, replay: boolean): Promise<void> {
    if (this.#disposed) return Promise.resolve();
    if (replay) this.#replaying += 1;
    this.#pendingBytes += bytes.byteLength;
    const written = new Promise<void>((resolve) => {
      this.#terminal.write(bytes, () => {
        if (replay) this.#replaying -= 1;
        this.#pendingBytes -= bytes.byteLength;
        resolve();
      });
    });
    return this.#pendingBytes < MOST_PENDING_BYTES ? Promise.resolve() : written;
  }

  /** Prints a line of the console, set apart from the sandbox's output. */
  note(words: string): void {
    this.#terminal.write(`\r\n\u001B[0;2m[${words}]\u001B[0m\r\n`);
  }

  setTheme(theme: 'light' | 'dark'): void {
    this.#terminal.options.theme = TERMINAL_THEMES[theme];
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Returns whether a match was found. */
  find(text: string, direction: 'next' | 'previous'): boolean {
    if (text === '') {
      this.#search.clearDecorations();
      this.#terminal.clearSelection();
      return true;
    }
    return direction === 'next' ? this.#search.findNext(text) : this.#search.findPrevious(text);
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch.disconnect();
    this.#terminal.dispose();
  }

  /** Fits the terminal to its container, minus one column, which the scroll bar would cover. */
  #fill(): void {
    const size = this.#fit.proposeDimensions();
    if (size === undefined || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) return;
    this.#terminal.resize(Math.max(2, size.cols - 1), Math.max(1, size.rows));
  }

  /** Returns false if the terminal should ignore the key. */
  #handleKey(event: KeyboardEvent, options: TerminalScreenOptions): boolean {
    if (event.type !== 'keydown') return true;
    const withShift = event.ctrlKey && event.shiftKey;
    if (withShift && event.code === 'KeyF') return this.#take(event, options.onFind);
    if (withShift && event.code === 'KeyX') return this.#take(event, options.onLeave);
    if (withShift && event.code === 'KeyC') return this.#take(event, () => this.#copy());
    const command = (event.ctrlKey || event.metaKey) && !event.altKey;
    // The browser handles copy and paste as events, including line endings and bracketed paste. Without a
    // selection, Ctrl+C goes to the shell.
    const copies = event.code === 'KeyC' && command && this.#terminal.hasSelection();
    const pastes = event.code === 'KeyV' && command;
    return !copies && !pastes;
  }

  #take(event: KeyboardEvent, act: () => void): false {
    event.preventDefault();
    act();
    return false;
  }

  #copy(): void {
    void navigator.clipboard?.writeText(this.#terminal.getSelection()).catch(() => undefined);
    this.#terminal.clearSelection();
  }
}

export async function loadTerminalFont(): Promise<void> {
  await document.fonts.load(`${FONT_PIXELS}px ${FONT}`).catch(() => undefined);
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
