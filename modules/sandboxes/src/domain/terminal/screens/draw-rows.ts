import type { IBuffer } from '@xterm/headless';
import { selectGraphics, styleKey } from './select-graphics.ts';
import { cellOf, type Cell } from './terminal-internals.ts';

const PLAIN = '\u001b[0m';

/**
 * Returns output that draws a buffer's rows, starting at the upper left corner of an empty screen. Wrapped rows become
 * one line again: the last column is printed, and the next character wraps.
 */
export function drawRows(buffer: IBuffer, from: number, cols: number): string {
  const parts: string[] = [];
  let isContinued = false;
  for (let row = from; row < buffer.length; row += 1) {
    const goesOn = buffer.getLine(row + 1)?.isWrapped === true;
    parts.push(drawRow(buffer, row, cols, isContinued, goesOn));
    if (row + 1 < buffer.length) parts.push(goesOn ? '' : '\r\n');
    isContinued = goesOn;
  }
  return parts.join('');
}

function drawRow(buffer: IBuffer, row: number, cols: number, isContinued: boolean, goesOn: boolean): string {
  const pen = new Pen();
  let column = 0;
  if (isContinued) {
    const [drawn, width] = wrap(buffer, row, cols);
    pen.text += drawn;
    column = width;
  }
  while (column < cols) {
    const cell = cellOf(buffer, row, column);
    if (cell === null) break;
    // A wide character whose second half was overwritten has nothing printable.
    const isHalf = cell.getWidth() === 2 && cellOf(buffer, row, column + 1)?.getWidth() !== 0;
    pen.put(cell, isHalf ? ' ' : cell.getChars());
    column += isHalf ? 1 : Math.max(1, cell.getWidth());
  }
  pen.fill();
  // Print a filler in the last column so that the next character wraps; the next row erases it.
  if (goesOn && needsFiller(buffer, row, cols)) pen.text += `${PLAIN}\u001b[${cols}G `;
  return `${pen.text}${PLAIN}`;
}

/** Whether the last column is empty and the next row does not begin with a wide character that did not fit. */
function needsFiller(buffer: IBuffer, row: number, cols: number): boolean {
  return isEmptyCell(cellOf(buffer, row, cols - 1)) && cellOf(buffer, row + 1, 0)?.getWidth() !== 2;
}

/** The first cell of a wrapped row, and the erasure of the previous row's filler. */
function wrap(buffer: IBuffer, row: number, cols: number): [string, number] {
  const first = cellOf(buffer, row, 0);
  if (first === null) return ['', 0];
  const last = cellOf(buffer, row - 1, cols - 1);
  const isEmpty = first.getChars() === '';
  const width = Math.max(1, first.getWidth());
  // A wide character leaves the last column unchanged, so place the cursor there.
  const place = width === 2 && isEmptyCell(last) ? `\u001b[${cols}G` : '';
  let drawn = `${place}${isEmpty ? PLAIN : selectGraphics(first)}${isEmpty ? ' ' : first.getChars()}`;
  // A row that scrolled in has the background color of that moment.
  if (width < cols) drawn += `${PLAIN}\u001b[K`;
  if (isEmptyCell(last)) {
    const style = selectGraphics(last);
    drawn += `\u001b[A\u001b[${cols}G${style}\u001b[X\u001b[B\u001b[${width + 1}G`;
  }
  if (isEmpty) drawn += `${selectGraphics(first)}\r\u001b[X\u001b[C`;
  return [`${drawn}${PLAIN}`, width];
}

function isEmptyCell(cell: Cell | null): cell is Cell {
  return cell !== null && cell.getChars() === '' && cell.getWidth() !== 0;
}

/** Prints cells, emits attributes only when they change, and skips empty cells. */
class Pen {
  text = '';
  #style = '0:0:0';
  #emptyCells = 0;
  #emptyStyle = '0:0:0';
  #emptyGraphics = '';

  put(cell: Cell, characters: string): void {
    if (characters === '') {
      const style = `0:${cell.bg}:0`;
      if (this.#emptyCells > 0 && style !== this.#emptyStyle) this.#pass();
      this.#emptyStyle = style;
      this.#emptyGraphics = selectGraphics(cell);
      this.#emptyCells += 1;
      return;
    }
    this.#pass();
    this.#become(styleKey(cell), () => selectGraphics(cell));
    this.text += characters;
  }

  /** Ends a row; trailing empty cells without a color need no output. */
  fill(): void {
    if (this.#emptyCells > 0 && this.#emptyStyle !== '0:0:0') this.#pass();
    this.#emptyCells = 0;
  }

  #pass(): void {
    if (this.#emptyCells === 0) return;
    const count = this.#emptyCells;
    this.#emptyCells = 0;
    if (this.#emptyStyle !== '0:0:0') {
      this.#become(this.#emptyStyle, () => this.#emptyGraphics);
      this.text += `\u001b[${count}X`;
    }
    this.text += `\u001b[${count}C`;
  }

  #become(style: string, graphics: () => string): void {
    if (this.#style === style) return;
    this.#style = style;
    this.text += graphics();
  }
}
