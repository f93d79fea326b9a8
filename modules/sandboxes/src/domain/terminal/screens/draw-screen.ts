import type { Terminal } from '@xterm/headless';
import { drawRows } from './draw-rows.ts';
import { selectGraphics } from './select-graphics.ts';
import { cellOf, internalsOf, type Charset, type Internals } from './terminal-internals.ts';

const RESET = '\u001bc';
const TAB_COLUMNS = 8;
const MOUSE_PROTOCOLS: Readonly<Record<string, number>> = { X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 };
const MOUSE_ENCODINGS: Readonly<Record<string, number>> = { SGR: 1006, SGR_PIXELS: 1016 };
const CURSOR_STYLES = { block: 1, underline: 3, bar: 5 } as const;

/**
 * Returns output that makes a terminal of the same size show the same screen and behave the same afterwards: a full
 * reset, lines, cursor and modes. Not included: palette colors set by programs, links, and character sets other than
 * graphics.
 */
export function drawScreen(terminal: Terminal, scrollback: number, title: string): string {
  const core = internalsOf(terminal);
  const { cols, rows } = terminal;
  const { normal, alternate, active } = terminal.buffer;
  const name = title === '' ? '' : `\u001b]2;${title}\u0007`;
  let screen = `${RESET}${name}${drawRows(normal, Math.max(0, normal.length - rows - scrollback), cols)}`;
  if (active.type === 'alternate') {
    // Switching screens saves the normal screen's cursor and fills with the current color.
    const below = core.buffers.normal;
    screen += `${tabStops(below.tabs, cols)}${region(below, rows)}${savedCursor(below)}\u001b[?1049h\u001b(B\u001b[0m\u001b[2J\u001b[H${drawRows(alternate, 0, cols)}`;
  }
  return `${screen}${drawState(terminal, core)}`;
}

function drawState(terminal: Terminal, core: Internals): string {
  const { active } = core.buffers;
  return [
    tabStops(active.tabs, terminal.cols),
    `${savedCursor(active)}\u001b7\u001b(B\u001b[0m`,
    region(active, terminal.rows),
    terminal.modes.originMode ? '\u001b[?6h' : '',
    cursor(terminal, core),
    modes(terminal, core),
    charsets(core),
    selectGraphics(core.pen),
  ].join('');
}

/** Sets the scroll region, which also homes the cursor. */
function region({ scrollTop, scrollBottom }: Internals['buffers']['active'], rows: number): string {
  return scrollTop === 0 && scrollBottom === rows - 1 ? '' : `\u001b[${scrollTop + 1};${scrollBottom + 1}r`;
}

function tabStops(tabs: Readonly<Record<number, boolean | undefined>>, cols: number): string {
  const columns = Array.from({ length: cols }, (_, column) => column);
  if (columns.every((column) => (tabs[column] === true) === (column % TAB_COLUMNS === 0))) return '';
  const set = columns.filter((column) => tabs[column] === true).map((column) => `\u001b[${column + 1}G\u001bH`);
  return `\u001b[3g${set.join('')}`;
}

/** Moves to the saved cursor position, with its saved attributes. */
function savedCursor(buffer: Internals['buffers']['active']): string {
  const row = Math.max(0, buffer.savedY - buffer.ybase);
  const charset = isGraphic(buffer.savedCharset) ? '\u001b(0' : '';
  return `\u001b[${row + 1};${buffer.savedX + 1}H${selectGraphics(buffer.savedCurAttrData)}${charset}`;
}

/** A cursor past the last column waits to wrap; only printing a character reproduces that. */
function cursor(terminal: Terminal, core: Internals): string {
  const { x, y, ybase, scrollTop } = core.buffers.active;
  const row = y + 1 - (terminal.modes.originMode ? scrollTop : 0);
  const buffer = terminal.buffer.active;
  if (x < terminal.cols) return `\u001b[${row};${x + 1}H`;
  const last = cellOf(buffer, ybase + y, terminal.cols - 1);
  const column = last?.getWidth() === 0 ? terminal.cols - 2 : terminal.cols - 1;
  const cell = cellOf(buffer, ybase + y, column);
  const shown = cell === null || cell.getChars() === '' ? ' ' : cell.getChars();
  return `\u001b[${row};${column + 1}H${cell === null ? '' : selectGraphics(cell)}${shown}`;
}

function modes({ modes: is }: Terminal, { coreService, coreMouseService }: Internals): string {
  const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
  const privately: (readonly [boolean, string])[] = [
    [is.applicationCursorKeysMode, '1h'],
    [is.applicationKeypadMode, '66h'],
    [is.bracketedPasteMode, '2004h'],
    [is.reverseWraparoundMode, '45h'],
    [is.sendFocusMode, '1004h'],
    [!is.wraparoundMode, '7l'],
    [coreService.isCursorHidden, '25l'],
  ];
  const mouse = [MOUSE_PROTOCOLS[coreMouseService.activeProtocol], MOUSE_ENCODINGS[coreMouseService.activeEncoding]];
  return [
    ...privately.filter(([on]) => on).map(([, mode]) => `\u001b[?${mode}`),
    ...mouse.filter((mode) => mode !== undefined).map((mode) => `\u001b[?${mode}h`),
    is.insertMode ? '\u001b[4h' : '',
    cursorStyle === undefined ? '' : `\u001b[${CURSOR_STYLES[cursorStyle] + (cursorBlink === false ? 1 : 0)} q`,
  ].join('');
}

/** For the active level, use the active set: a restored cursor brings its own. */
function charsets({ charsets: { level, inUse, all } }: Internals): string {
  const designated = ['(', ')', '*', '+'].map((set, index) =>
    isGraphic(index === level ? inUse : all[index]) ? `\u001b${set}0` : '',
  );
  const shift = ['', '\u000e', '\u001bn', '\u001bo'][level] ?? '';
  return `${designated.join('')}${shift}`;
}

/** Recognized by the letter that maps to a horizontal line. */
function isGraphic(charset: Charset | undefined): boolean {
  return charset?.['q'] === '─';
}
