import type { IBuffer } from '@xterm/headless';
import { selectGraphics, styleKey } from './select-graphics.ts';
import { cellOf, type Cell } from './terminal-internals.ts';

const PLAIN = '\u001b[0m';

/**
 * What draws rows of a buffer one below the other, from the upper left corner of an empty screen on. Rows that were one
 * line become one line again: the last column is printed, and the next character wraps.
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
    // Of a wide character whose second half was overwritten there is nothing that could be printed.
    const isHalf = cell.getWidth() === 2 && cellOf(buffer, row, column + 1)?.getWidth() !== 0;
    pen.put(cell, isHalf ? ' ' : cell.getChars());
    column += isHalf ? 1 : Math.max(1, cell.getWidth());
  }
  pen.fill();
  // A character is printed into the last column so that the next one wraps; the next row takes it back.
  if (goesOn && needsFiller(buffer, row, cols)) pen.text += `${PLAIN}\u001b[${cols}G `;
  return `${pen.text}${PLAIN}`;
}

/** Its last column is empty, and no wide character stands at the beginning of the next that would not have fitted. */
function needsFiller(buffer: IBuffer, row: number, cols: number): boolean {
  return isEmptyCell(cellOf(buffer, row, cols - 1)) && cellOf(buffer, row + 1, 0)?.getWidth() !== 2;
}

/** The first cell of a row that goes on with the one before, and what has to be taken back there. */
function wrap(buffer: IBuffer, row: number, cols: number): [string, number] {
  const first = cellOf(buffer, row, 0);
  if (first === null) return ['', 0];
  const last = cellOf(buffer, row - 1, cols - 1);
  const isEmpty = first.getChars() === '';
  const width = Math.max(1, first.getWidth());
  // A wide character leaves the last column as it is: the cursor has to stand there.
  const place = width === 2 && isEmptyCell(last) ? `\u001b[${cols}G` : '';
  let drawn = `${place}${isEmpty ? PLAIN : selectGraphics(first)}${isEmpty ? ' ' : first.getChars()}`;
  // A row that came up from below has the colour that was on then.
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

/** Prints cells, changes attributes only where they change, and passes over what is empty. */
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

  /** At the end of a row: empty cells without a colour need nothing. */
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
