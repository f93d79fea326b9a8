import type { IBuffer, IBufferCell, Terminal } from '@xterm/headless';

/** Packed colors and flags of a cell or of the next printed character, as the emulator stores them. */
export interface Attributes {
  readonly fg: number;
  readonly bg: number;
  readonly extended: { readonly ext: number };
  isInverse(): number;
  isBold(): number;
  isUnderline(): number;
  isBlink(): number;
  isInvisible(): number;
  isItalic(): number;
  isDim(): number;
  isStrikethrough(): number;
  isOverline(): number;
  isFgRGB(): boolean;
  isBgRGB(): boolean;
  isFgPalette(): boolean;
  isBgPalette(): boolean;
  getFgColor(): number;
  getBgColor(): number;
  getUnderlineStyle(): number;
  getUnderlineColor(): number;
  isUnderlineColorRGB(): boolean;
  isUnderlineColorPalette(): boolean;
  hasExtendedAttrs(): number;
}

export type Cell = IBufferCell & Attributes;

/** Maps letters to displayed characters. */
export type Charset = Readonly<Record<string, string>>;

interface InternalLine {
  addCodepointToCell(index: number, codePoint: number, width: number): void;
}

interface InternalBuffer {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Readonly<Record<number, boolean | undefined>>;
  readonly savedX: number;
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset | undefined;
  readonly lines: { get(index: number): InternalLine | undefined };
}

interface Counted {
  readonly params: readonly number[];
  readonly length: number;
}

type CountedSequence = (params: Counted) => boolean;

interface Handler {
  scrollUp: CountedSequence;
  scrollDown: CountedSequence;
  insertLines: CountedSequence;
  deleteLines: CountedSequence;
  cursorForwardTab: CountedSequence;
  cursorBackwardTab: CountedSequence;
  repeatPrecedingCharacter: CountedSequence;
  eraseInDisplay: CountedSequence;
}

/** Emulator state that a screen copy needs and the public API does not expose. */
export interface Internals {
  readonly buffers: { readonly normal: InternalBuffer; readonly alt: InternalBuffer; readonly active: InternalBuffer };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: {
      readonly cursorBlink: boolean | undefined;
      readonly cursorStyle: 'block' | 'underline' | 'bar' | undefined;
    };
  };
  readonly coreMouseService: { readonly activeProtocol: string; readonly activeEncoding: string };
  readonly charsets: {
    readonly level: number;
    readonly inUse: Charset | undefined;
    readonly all: readonly (Charset | undefined)[];
  };
  /** Attributes of the next printed character. */
  readonly pen: Attributes;
  /** 0 between sequences. */
  readonly parserState: number;
  readonly handler: Handler;
  /** Parses synchronously, without buffering. */
  writeSync(bytes: Uint8Array): void;
}

/** The emulator's core in the pinned version. */
interface Core extends Pick<Internals, 'buffers' | 'coreService' | 'coreMouseService'> {
  readonly _charsetService: {
    readonly glevel: number;
    readonly charset: Charset | undefined;
    readonly _charsets: readonly (Charset | undefined)[];
  };
  readonly _inputHandler: Handler & {
    readonly _curAttrData: Attributes;
    readonly _parser: { readonly currentState: number };
  };
  writeSync(bytes: Uint8Array): void;
}

/** Reads the current state. The version is pinned, and the tests of this folder fail if one of these names changes. */
export function internalsOf(terminal: Terminal): Internals {
  // `_core` is not part of the public type.
  const core = (terminal as unknown as Readonly<Record<'_core', Core>>)['_core'];
  const { glevel, charset, ['_charsets']: all } = core['_charsetService'];
  const handler = core['_inputHandler'];
  return {
    buffers: core.buffers,
    coreService: core.coreService,
    coreMouseService: core.coreMouseService,
    charsets: { level: glevel, inUse: charset, all },
    pen: handler['_curAttrData'],
    parserState: handler['_parser'].currentState,
    handler,
    writeSync: (bytes) => core.writeSync(bytes),
  };
}

/** Returns null beyond the line's end. The public cell is the emulator's own object, with its attributes. */
export function cellOf(buffer: IBuffer, row: number, column: number): Cell | null {
  // The declared type omits most attributes.
  return (buffer.getLine(row)?.getCell(column) as Cell | undefined) ?? null;
}
