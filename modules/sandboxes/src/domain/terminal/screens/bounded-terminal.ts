import xterm from '@xterm/headless';
import type { Terminal } from '@xterm/headless';
import { internalsOf } from './terminal-internals.ts';

/** Larger screens are not kept. */
export const MAX_CELLS = 250_000;
const MAX_SCROLLBACK_LINES = 1000;
/** Combining marks per cell; more are indistinguishable anyway. */
const MAX_MARKS = 16;
const MAX_REPEAT = 4096;

/** Number of scrollback lines kept for a screen of this size. */
export function scrollbackOf(cols: number, rows: number): number {
  return Math.max(0, Math.min(MAX_SCROLLBACK_LINES, Math.floor(MAX_CELLS / cols) - rows));
}

/**
 * Creates a headless terminal for untrusted output: repeat counts are cut to what has an effect, a cell holds a bounded
 * number of marks, and state beside the screen (titles, links, colors, strings) is not stored.
 */
export function boundedTerminal(cols: number, rows: number): Terminal {
  const scrollback = scrollbackOf(cols, rows);
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' });
  const { handler } = internalsOf(terminal);
  const cut = (final: string, most: () => number, apply: (count: number) => void): void => {
    terminal.parser.registerCsiHandler({ final }, ([count]) => {
      const asked = typeof count === 'number' ? count : 0;
      if (asked <= most()) return false;
      apply(most());
      return true;
    });
  };
  const times = (count: number) => ({ params: [count], length: 1 });
  cut(
    'S',
    () => terminal.rows,
    (count) => handler.scrollUp(times(count)),
  );
  cut(
    'T',
    () => terminal.rows,
    (count) => handler.scrollDown(times(count)),
  );
  cut(
    'L',
    () => terminal.rows,
    (count) => handler.insertLines(times(count)),
  );
  cut(
    'M',
    () => terminal.rows,
    (count) => handler.deleteLines(times(count)),
  );
  cut(
    'I',
    () => terminal.cols,
    (count) => handler.cursorForwardTab(times(count)),
  );
  cut(
    'Z',
    () => terminal.cols,
    (count) => handler.cursorBackwardTab(times(count)),
  );
  cut(
    'b',
    () => MAX_REPEAT,
    (count) => handler.repeatPrecedingCharacter(times(count)),
  );
  // The emulator throws when erasing up to the last cell with no line below; that case erases the whole screen.
  terminal.parser.registerCsiHandler({ final: 'J' }, ([part]) => {
    const { x, y } = internalsOf(terminal).buffers.active;
    if (part !== 1 || x < terminal.cols - 1 || y < terminal.rows - 1) return false;
    return handler.eraseInDisplay(times(2));
  });
  terminal.parser.registerOscHandler(8, () => true);
  boundMarks(terminal);
  return terminal;
}

/** The emulator appends to a cell's text without a limit. All its lines share one class. */
function boundMarks(terminal: Terminal): void {
  const line = internalsOf(terminal).buffers.normal.lines.get(0);
  if (line === undefined) throw new Error('a terminal without a line');
  const lines: typeof line & { readonly isBounded?: true; getString?(index: number): string } =
    Object.getPrototypeOf(line);
  if (lines.isBounded === true) return;
  const append = lines.addCodepointToCell;
  Object.defineProperty(lines, 'isBounded', { value: true });
  lines.addCodepointToCell = function bounded(index, codePoint, width): void {
    if ((lines.getString?.call(this, index).length ?? 0) <= MAX_MARKS) append.call(this, index, codePoint, width);
  };
}
