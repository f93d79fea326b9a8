import xterm from '@xterm/headless';
import type { Terminal } from '@xterm/headless';
import { cellOf, internalsOf, type Attributes } from '../../src/domain/terminal/screens/terminal-internals.ts';

/** A separate, plain terminal with a long scrollback. */
export function createViewer(cols: number, rows: number): Terminal {
  return new xterm.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true, logLevel: 'off' });
}

export function show(terminal: Terminal, bytes: Uint8Array | string): void {
  internalsOf(terminal).writeSync(Buffer.from(bytes));
}

/** All state that is visible or affects further output, with the given number of scrollback lines. */
export function stateOf(terminal: Terminal, scrollback = 0): unknown {
  const { buffers, coreService, coreMouseService, charsets, pen } = internalsOf(terminal);
  const { rows, cols, modes } = terminal;
  const rowsOf = (type: 'normal' | 'alternate'): string[] => {
    const buffer = terminal.buffer[type];
    const from = Math.max(0, buffer.length - rows - (type === 'normal' ? scrollback : 0));
    return Array.from({ length: buffer.length - from }, (_, index) => rowOf(terminal, type, from + index, index > 0));
  };
  const { x, y, scrollTop, scrollBottom, savedX, savedY, ybase, tabs } = buffers.active;
  const isAlternate = terminal.buffer.active.type === 'alternate';
  return {
    normal: rowsOf('normal'),
    alternate: isAlternate ? rowsOf('alternate') : [],
    cursor: [x, y],
    // A restored cursor is never past the last column.
    saved: [Math.min(savedX, cols - 1), Math.max(0, savedY - ybase)],
    normalSaved: isAlternate
      ? [Math.min(buffers.normal.savedX, cols - 1), Math.max(0, buffers.normal.savedY - buffers.normal.ybase)]
      : [],
    region: [scrollTop, scrollBottom],
    tabs: Array.from({ length: cols }, (_, column) => tabs[column] === true),
    pen: lookOf(pen),
    modes: { ...modes },
    hidden: coreService.isCursorHidden,
    style: [coreService.decPrivateModes.cursorStyle, coreService.decPrivateModes.cursorBlink],
    mouse: [coreMouseService.activeProtocol, coreMouseService.activeEncoding],
    graphics: charsets.inUse?.['q'] === '─',
    shift: charsets.level,
  };
}

function rowOf(terminal: Terminal, type: 'normal' | 'alternate', row: number, isInner: boolean): string {
  const buffer = terminal.buffer[type];
  const cells: string[] = [];
  for (let column = 0; column < terminal.cols; column += 1) {
    const cell = cellOf(buffer, row, column);
    if (cell === null) continue;
    // Only the background of an empty cell is visible.
    const isEmpty = cell.getChars() === '';
    const look = isEmpty ? `${cell.isBgRGB()}${cell.getBgColor()}` : lookOf(cell);
    cells.push(`${isEmpty ? ' ' : cell.getChars()}${cell.getWidth()}<${look}>`);
  }
  return `${isInner && buffer.getLine(row)?.isWrapped === true ? '+' : ' '}${cells.join('').replaceAll('1<false-1>', '').replaceAll('<plain>', '')}`;
}

/** Decodes the attributes, because the packed numbers keep remains of earlier colors. */
function lookOf(style: Attributes): string {
  const flags = [
    style.isBold(),
    style.isDim(),
    style.isItalic(),
    style.isBlink(),
    style.isInverse(),
    style.isInvisible(),
  ];
  const more = [style.isStrikethrough(), style.isOverline()];
  const colors = [style.isFgRGB(), style.getFgColor(), style.isBgRGB(), style.getBgColor()];
  const on = [...flags, ...more].map((flag) => (flag === 0 ? 0 : 1)).join('');
  const look = `${on}/${style.isUnderline() ? Math.max(1, style.getUnderlineStyle()) : 0}/${colors.join('/')}`;
  return look === '00000000/0/false/-1/false/-1' ? 'plain' : look;
}
