/**
 * The WebAssembly module behind `CrcKernel`, assembled here rather than shipped as a binary:
 *
 * crc(register: i64, length: i32, table: i32) -> i64
 * crcOfAll(register: i64, table: i32, shift: i32) -> i64
 *
 * `crc` processes `length` bytes at `INPUT_OFFSET`, eight at a time (slicing-by-8, Kounavis and Berry 2005), with the
 * eight tables of 256 64-bit entries at `table`. Each step depends on the previous one, so the processor waits for
 * memory. Therefore `crcOfAll` processes all `INPUT_BYTES` in four lanes at once, with the last three starting from
 * zero, and combines them: the tables at `shift` advance a register over `LANE_BYTES` of zeros. The same code serves
 * every reflected CRC up to 64 bits.
 */
export const INPUT_OFFSET = 65_536;
/** Small, so that pieces as they arrive from a network mostly consist of whole ones. */
export const INPUT_BYTES = 8_192;
const LANES = 4;
export const LANE_BYTES = INPUT_BYTES / LANES;
const MEMORY_PAGES = Math.ceil((INPUT_OFFSET + INPUT_BYTES) / 65_536);
const TABLE_BYTES = 2_048;

const I32 = 0x7f;
const I64 = 0x7e;
const Op = {
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  branch: 0x0c,
  branchIf: 0x0d,
  end: 0x0b,
  get: 0x20,
  set: 0x21,
  i32Const: 0x41,
  i64Const: 0x42,
  i64Load: 0x29,
  i64Load8: 0x31,
  i32GeU: 0x4f,
  i32Add: 0x6a,
  i32And: 0x71,
  i64And: 0x83,
  i64Xor: 0x85,
  i64Shl: 0x86,
  i64ShrU: 0x88,
  wrap: 0xa7,
} as const;

/** Locals, parameters first. The pointer is local 3 in both functions. */
const REGISTER = 0;
const LENGTH = 1;
const TABLE = 2;
const POINTER = 3;
const END_OF_WORDS = 4;
const END = 5;
const WORD = 6;
const ALL = { register: 0, table: 1, shift: 2, word: 4, lanes: [0, 5, 6, 7] } as const;

export function crcModuleBytes(): Uint8Array<ArrayBuffer> {
  const type = section(1, vector([[0x60, ...vector([[I64], [I32], [I32]]), ...vector([[I64]])]]));
  const functions = section(3, vector([[0], [0]]));
  const memory = section(5, vector([[0x00, ...unsigned(MEMORY_PAGES)]]));
  const exports = section(
    7,
    vector([
      [...name('memory'), 0x02, 0],
      [...name('crc'), 0x00, 0],
      [...name('crcOfAll'), 0x00, 1],
    ]),
  );
  const codes = section(10, vector([functionBody(3, 1, code()), functionBody(1, 4, codeOfAll())]));
  return new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...type, ...functions, ...memory, ...exports, ...codes]);
}

/** A function with the given numbers of 32-bit and 64-bit locals. */
function functionBody(words: number, longWords: number, instructions: number[]): number[] {
  const locals = vector([
    [...unsigned(words), I32],
    [...unsigned(longWords), I64],
  ]);
  const body = [...locals, ...instructions, Op.end];
  return [...unsigned(body.length), ...body];
}

function code(): number[] {
  return [
    [Op.i32Const, ...signed(INPUT_OFFSET), Op.set, POINTER],
    [Op.get, POINTER, Op.get, LENGTH, Op.i32Add, Op.set, END],
    [Op.get, POINTER, Op.get, LENGTH, Op.i32Const, ...signed(-8), Op.i32And, Op.i32Add, Op.set, END_OF_WORDS],
    whileBelow(
      [Op.get, END_OF_WORDS],
      [...nextWord(REGISTER, 0, WORD), ...lookups(WORD, TABLE), Op.set, REGISTER, ...advance(8)],
    ),
    whileBelow([Op.get, END], [...oneByte(), ...advance(1)]),
    [Op.get, REGISTER],
  ].flat();
}

function codeOfAll(): number[] {
  const { register, table, shift, word, lanes } = ALL;
  const steps = lanes.map((lane, index) => [
    ...nextWord(lane, index * LANE_BYTES, word),
    ...lookups(word, table),
    Op.set,
    lane,
  ]);
  const joins = lanes.slice(1).map((lane) => [...lookups(register, shift), Op.get, lane, Op.i64Xor, Op.set, register]);
  return [
    [Op.i32Const, ...signed(INPUT_OFFSET), Op.set, POINTER],
    whileBelow([Op.i32Const, ...signed(INPUT_OFFSET + LANE_BYTES)], [...steps.flat(), ...advance(8)]),
    ...joins,
    [Op.get, register],
  ].flat();
}

/** Loads the eight bytes at the pointer and XORs the register into them. */
function nextWord(register: number, offset: number, word: number): number[] {
  return [Op.get, POINTER, Op.i64Load, 0, ...unsigned(offset), Op.get, register, Op.i64Xor, Op.set, word];
}

/** Looks up each of the eight bytes of a word in its own table. */
function lookups(word: number, table: number): number[] {
  const instructions: number[] = [];
  for (let byte = 0; byte < 8; byte += 1) {
    // The entry's offset: the byte, shifted down, times eight.
    const shift = byte === 0 ? [Op.i64Const, 3, Op.i64Shl] : [Op.i64Const, ...signed(8 * byte - 3), Op.i64ShrU];
    instructions.push(Op.get, word, ...shift, ...lookup(table, 7 - byte));
    if (byte > 0) instructions.push(Op.i64Xor);
  }
  return instructions;
}

function oneByte(): number[] {
  return [
    [Op.get, REGISTER, Op.get, POINTER, Op.i64Load8, 0, 0, Op.i64Xor],
    [Op.i64Const, 3, Op.i64Shl, ...lookup(TABLE, 0)],
    [Op.get, REGISTER, Op.i64Const, 8, Op.i64ShrU, Op.i64Xor, Op.set, REGISTER],
  ].flat();
}

function lookup(tables: number, table: number): number[] {
  const mask = [Op.i64Const, ...signed(0x7f8), Op.i64And, Op.wrap];
  return [...mask, Op.get, tables, Op.i32Add, Op.i64Load, 3, ...unsigned(table * TABLE_BYTES)];
}

function whileBelow(limit: number[], body: number[]): number[] {
  const leave = [Op.get, POINTER, ...limit, Op.i32GeU, Op.branchIf, 1];
  return [...Op.block, ...Op.loop, ...leave, ...body, Op.branch, 0, Op.end, Op.end];
}

function advance(bytes: number): number[] {
  return [Op.get, POINTER, Op.i32Const, ...signed(bytes), Op.i32Add, Op.set, POINTER];
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function vector(items: number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function name(text: string): number[] {
  return vector([...Buffer.from(text)].map((byte) => [byte]));
}

/** LEB128, the integer encoding of the WebAssembly binary format. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const done = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(done ? low : low | 0x80);
    if (done) return bytes;
  }
}
