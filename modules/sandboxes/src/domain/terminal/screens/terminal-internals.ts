import type { IBuffer, IBufferCell, Terminal } from '@xterm/headless';

/** Colours and flags of a cell or of what is printed next, as the emulator packs them. */
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

/** What is shown for a letter. */
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

/** What a copy of a screen needs of the emulator and its public face does not show. */
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
  /** What the next character is printed with. */
  readonly pen: Attributes;
  /** 0 between sequences. */
  readonly parserState: number;
  readonly handler: Handler;
  /** Parses at once: no bytes wait anywhere. */
  writeSync(bytes: Uint8Array): void;
}

/** The emulator's own core, as its pinned version has it. */
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

/** As it is now. The version is pinned, and the tests of this folder fail when one of these names is gone. */
export function internalsOf(terminal: Terminal): Internals {
  // `_core` is no part of the public type.
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

/** Null beyond the line. The public cell is the emulator's own, with its attributes. */
export function cellOf(buffer: IBuffer, row: number, column: number): Cell | null {
  // The declared type leaves most of the attributes out.
  return (buffer.getLine(row)?.getCell(column) as Cell | undefined) ?? null;
}
