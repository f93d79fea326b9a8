import { describe, expect, it } from 'vitest';
import { show, stateOf, createViewer } from '../../../support/terminal-state.ts';
import { Screen } from '../../../../src/domain/terminal/screens/screen.ts';

const [COLS, ROWS] = [40, 12];
const never = (): boolean => false;

/** Two viewers that have both seen `after`: one from the beginning, one that attached after `before`. */
function twoViewers(before: Uint8Array, after: Uint8Array, cols = COLS, rows = ROWS): [unknown, unknown] {
  const early = createViewer(cols, rows);
  show(early, before);
  show(early, after);
  const screen = new Screen(cols, rows);
  screen.feed(before, never);
  const late = createViewer(cols, rows);
  show(late, screen.draw() ?? '');
  show(late, after);
  return [stateOf(late, 20), stateOf(early, 20)];
}

const CASES: Readonly<Record<string, string>> = {
  'plain lines': Array.from({ length: 50 }, (_, index) => `line ${index}\r\n`).join(''),
  'a line that is longer than the screen is wide': `${'0123456789'.repeat(9)}\r\nnext`,
  'a line that ends in the last column': 'x'.repeat(COLS),
  'wide characters that wrap': `${'a'.repeat(COLS - 1)}世界${'語'.repeat(40)}`,
  'a wrapped line whose first row was cut': `${'x'.repeat(COLS + 5)}\u001b[A\u001b[30G\u001b[41m\u001b[20X`,
  'a wrapped line whose second row was cut': `${'x'.repeat(COLS + 5)}\r\u001b[42m\u001b[3X`,
  'colours, also of what is empty':
    '\u001b[1;31mred\u001b[22;2;44mdim\u001b[K\r\n\u001b[38;2;1;2;3;48;5;200mrgb\u001b[0m\u001b[4:3;9;53mx',
  'dim that became bold': '\u001b[2mdim\u001b[22;1mbold',
  'marks on characters': 'e\u0301a\u0300\u0301o',
  'a full screen with a region of its own':
    '$ vi\r\n\u001b[31m\u001b[?1049h\u001b[2J\u001b[H\u001b[3;8r\u001b[?6h\u001b[2;5Hin\u001b[?25l\u001b[?1002;1006h\u001b[?2004h\u001b[?1h\u001b=',
  'a saved cursor': '\u001b[5;9H\u001b[35m\u001b7\u001b[0m\u001b[2;2Hhere',
  'graphic characters': '\u001b(0lqqk\u001b)0\u001b(B\u000eqq',
  'tab stops and a cursor of another form': '\u001b[3g\u001b[6G\u001bH\u001b[4 qx\r\n\u001b[4h',
  'a line that is cut at the last column': `\u001b[?7l${'cut '.repeat(20)}`,
  'a title': '\u001b]0;a \u00e9 title\u0007',
  'half a sequence': 'text\u001b[38;5;1',
  'half a title': 'text\u001b]2;some',
  'half a character': '\u0000',
  'only an escape': 'text\u001b',
};

describe("a session's screen", () => {
  for (const [name, before] of Object.entries(CASES)) {
    it(`is the same for a late viewer: ${name}`, () => {
      const bytes = name === 'half a character' ? Buffer.from([0x41, 0xe4, 0xb8]) : Buffer.from(before);
      const after =
        name === 'half a character'
          ? Buffer.from([0x96, 0x42])
          : Buffer.from('2mA\u0007B\r\n\u001b8C\tD\n\n\u001b[?1049lE');
      const [late, early] = twoViewers(bytes, after);
      expect(late).toEqual(early);
    });
  }

  it('is the same for a late viewer after random output', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = generator(seed);
      const [before, after] = [scribble(random, 150, 1049), scribble(random, 20, 1004)];
      const [late, early] = twoViewers(before, after, 20, 8);
      expect(late, `seed ${seed}`).toEqual(early);
    }
  });

  it('applies a resize between the bytes written before and after it', () => {
    const early = createViewer(40, 12);
    const screen = new Screen(40, 12);
    const parts: [string, number, number][] = [
      ['one\r\ntwo', 30, 6],
      ['\u001b[6;30Hx', 60, 20],
      ['\u001b[20;60Hy\u001b[H', 60, 20],
    ];
    for (const [text, cols, rows] of parts) {
      show(early, text);
      screen.feed(Buffer.from(text), never);
      early.resize(cols, rows);
      screen.resize(cols, rows);
    }
    const late = createViewer(60, 20);
    show(late, screen.draw() ?? '');
    expect(stateOf(late)).toEqual(stateOf(early));
  });
});

function generator(seed: number): (most: number) => number {
  let state = seed * 2_654_435_761;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0;
    return (state >>> 8) % most;
  };
}

/**
 * Random program output: text, moves, erasing, scrolling, modes. The emulator keeps the saved cursor of an alternate
 * screen it has left, which drawings omit; so programs do not return to it after a drawing.
 */
function scribble(random: (most: number) => number, pieces: number, mode: number): Uint8Array {
  const number = (): number => random(24);
  const makers: (() => string)[] = [
    () => 'word '.repeat(random(8)),
    () => '世e\u0301'.repeat(random(6)),
    () => '\r\n'.repeat(1 + random(3)),
    () => `\u001b[${number()};${number()}H`,
    () => `\u001b[${number()}${'ABCDGdXPLM@STIZ'[random(15)]}`,
    () => `\u001b[${[0, 2][random(2)]}J\u001b[${random(3)}K`,
    () => `\u001b[${[0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 31, 39, 42, 49, 95, 103][random(17)]}m`,
    () => `\u001b[38;5;${random(256)};48;2;${random(256)};9;9m`,
    () => `\u001b[${1 + random(4)};${5 + random(4)}r`,
    () => ['\u001b7', '\u001b8', '\u001bM', '\u001bD', '\u001bE', '\t', '\b'][random(7)] ?? '',
    () => `\u001b[?${[1, 25, 1000, 1006, 2004, mode, 6][random(7)]}${'hl'[random(2)]}`,
    () => ['\u001b(0', '\u001b(B', '\u001b[4h', '\u001b[4l', '\u001bH'][random(5)] ?? '',
  ];
  return Buffer.from(Array.from({ length: pieces }, () => makers[random(makers.length)]?.() ?? '').join(''));
}
