/**
 * The few bytes of WebAssembly behind `CrcKernel`, put together here instead of shipped as a binary:
 *
 *     crc(register: i64, length: i32, table: i32) -> i64
 *
 * runs over `length` bytes at `INPUT_OFFSET`, eight at a time (slicing-by-8, Kounavis and Berry 2005) with the eight
 * tables of 256 64-bit entries at `table`. The same loop serves every reflected CRC up to 64 bits.
 */
export const INPUT_OFFSET = 65_536;
export const INPUT_BYTES = 65_536;
const MEMORY_PAGES = (INPUT_OFFSET + INPUT_BYTES) / 65_536;
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

const REGISTER = 0;
const LENGTH = 1;
const TABLE = 2;
const POINTER = 3;
const END_OF_WORDS = 4;
const END = 5;
const WORD = 6;

export function crcModuleBytes(): Uint8Array<ArrayBuffer> {
  const type = section(1, vector([[0x60, ...vector([[I64], [I32], [I32]]), ...vector([[I64]])]]));
  const functions = section(3, vector([[0]]));
  const memory = section(5, vector([[0x00, ...unsigned(MEMORY_PAGES)]]));
  const exports = section(
    7,
    vector([
      [...name('memory'), 0x02, 0],
      [...name('crc'), 0x00, 0],
    ]),
  );
  const locals = vector([
    [...unsigned(3), I32],
    [...unsigned(1), I64],
  ]);
  const body = [...locals, ...code(), Op.end];
  const codes = section(10, vector([[...unsigned(body.length), ...body]]));
  return new Uint8Array([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...type, ...functions, ...memory, ...exports, ...codes]);
}

function code(): number[] {
  return [
    [Op.i32Const, ...signed(INPUT_OFFSET), Op.set, POINTER],
    [Op.get, POINTER, Op.get, LENGTH, Op.i32Add, Op.set, END],
    [Op.get, POINTER, Op.get, LENGTH, Op.i32Const, ...signed(-8), Op.i32And, Op.i32Add, Op.set, END_OF_WORDS],
    whileBelow(END_OF_WORDS, [...oneWord(), ...advance(8)]),
    whileBelow(END, [...oneByte(), ...advance(1)]),
    [Op.get, REGISTER],
  ].flat();
}

function oneWord(): number[] {
  const load = [Op.get, POINTER, Op.i64Load, 0, 0, Op.get, REGISTER, Op.i64Xor, Op.set, WORD];
  const lookups: number[] = [];
  for (let byte = 0; byte < 8; byte += 1) {
    // The entry's address: the byte at its place, times eight.
    const shift = byte === 0 ? [Op.i64Const, 3, Op.i64Shl] : [Op.i64Const, ...signed(8 * byte - 3), Op.i64ShrU];
    lookups.push(Op.get, WORD, ...shift, ...lookup(7 - byte));
    if (byte > 0) lookups.push(Op.i64Xor);
  }
  return [...load, ...lookups, Op.set, REGISTER];
}

function oneByte(): number[] {
  return [
    [Op.get, REGISTER, Op.get, POINTER, Op.i64Load8, 0, 0, Op.i64Xor],
    [Op.i64Const, 3, Op.i64Shl, ...lookup(0)],
    [Op.get, REGISTER, Op.i64Const, 8, Op.i64ShrU, Op.i64Xor, Op.set, REGISTER],
  ].flat();
}

function lookup(table: number): number[] {
  const mask = [Op.i64Const, ...signed(0x7f8), Op.i64And, Op.wrap];
  return [...mask, Op.get, TABLE, Op.i32Add, Op.i64Load, 3, ...unsigned(table * TABLE_BYTES)];
}

function whileBelow(limit: number, body: number[]): number[] {
  const leave = [Op.get, POINTER, Op.get, limit, Op.i32GeU, Op.branchIf, 1];
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

/** LEB128, as the WebAssembly binary format writes integers. */
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
