/**
 * Adds a note to an ELF program, mapped at run time, where Node looks for the blob of a single executable application.
 * Format: System V ABI, "Program Header" and "Note Section"; 64 bits, little-endian.
 *
 * There is no room for two more program headers in place, so the whole table moves to the end of the file together with
 * the note, into a new segment. Its offset is the same in memory and in the file: kernels before 5.18 compute the
 * headers' address from that offset alone.
 */
export function addElfNote(program: Buffer, name: string, content: Buffer): Buffer {
  const header = readHeader(program);
  const loads = header.segments.filter(({ type }) => type === PT_LOAD);
  const first = loads[0];
  if (first === undefined) throw new Error('the program has no segment that is loaded');
  const distance = first.address - first.offset;
  const endInMemory = Math.max(...loads.map((each) => each.address + each.memorySize));
  const offset = roundUp(Math.max(program.length, endInMemory - distance), LARGEST_PAGE_BYTES);
  const address = offset + distance;

  const tableSize = (header.segments.length + 2) * SEGMENT_BYTES;
  const note = encodeNote(name, content);
  const noteOffset = roundUp(tableSize, NOTE_ALIGNMENT);
  const size = noteOffset + note.length;
  const place = (from: number, length: number) => ({
    offset: offset + from,
    address: address + from,
    fileSize: length,
    memorySize: length,
  });
  const moved = header.segments.map((each) => (each.type === PT_PHDR ? { ...each, ...place(0, tableSize) } : each));
  const lastLoad = moved.findLastIndex(({ type }) => type === PT_LOAD);
  const whole = { type: PT_LOAD, flags: READABLE, alignment: LARGEST_PAGE_BYTES, ...place(0, size) };
  // Loaded segments are in address order; the new one is last.
  const segments = moved.toSpliced(lastLoad + 1, 0, whole);
  segments.push({ type: PT_NOTE, flags: READABLE, alignment: NOTE_ALIGNMENT, ...place(noteOffset, note.length) });

  const result = Buffer.alloc(offset + size);
  program.copy(result);
  segments.forEach((segment, index) => writeSegment(result, offset + index * SEGMENT_BYTES, segment));
  note.copy(result, offset + noteOffset);
  result.writeBigUInt64LE(BigInt(offset), TABLE_OFFSET_AT);
  result.writeUInt16LE(segments.length, TABLE_LENGTH_AT);
  return result;
}

const TABLE_OFFSET_AT = 0x20;
const SEGMENT_SIZE_AT = 0x36;
const TABLE_LENGTH_AT = 0x38;
const SEGMENT_BYTES = 56;
const PT_LOAD = 1;
const PT_NOTE = 4;
const PT_PHDR = 6;
const READABLE = 4;
/** arm64 kernels may use 64 KiB pages. */
const LARGEST_PAGE_BYTES = 0x1_0000;
const NOTE_ALIGNMENT = 4;

interface Segment {
  type: number;
  flags: number;
  offset: number;
  address: number;
  fileSize: number;
  memorySize: number;
  alignment: number;
}

function readHeader(program: Buffer): { segments: Segment[] } {
  const isElf64 =
    program.length > 64 && program.readUInt32BE(0) === 0x7f_45_4c_46 && program[4] === 2 && program[5] === 1;
  if (!isElf64 || program.readUInt16LE(SEGMENT_SIZE_AT) !== SEGMENT_BYTES) {
    throw new Error('the program is no 64-bit little-endian ELF file');
  }
  const tableOffset = Number(program.readBigUInt64LE(TABLE_OFFSET_AT));
  const segments = Array.from({ length: program.readUInt16LE(TABLE_LENGTH_AT) }, (_, index) =>
    readSegment(program, tableOffset + index * SEGMENT_BYTES),
  );
  return { segments };
}

function readSegment(program: Buffer, at: number): Segment {
  const wide = (from: number): number => Number(program.readBigUInt64LE(at + from));
  return {
    type: program.readUInt32LE(at),
    flags: program.readUInt32LE(at + 4),
    offset: wide(8),
    address: wide(16),
    fileSize: wide(32),
    memorySize: wide(40),
    alignment: wide(48),
  };
}

function writeSegment(program: Buffer, at: number, segment: Segment): void {
  program.writeUInt32LE(segment.type, at);
  program.writeUInt32LE(segment.flags, at + 4);
  const { offset, address, fileSize, memorySize, alignment } = segment;
  // The address twice: the second one is the physical address, which is unused.
  [offset, address, address, fileSize, memorySize, alignment].forEach((value, index) =>
    program.writeBigUInt64LE(BigInt(value), at + 8 + index * 8),
  );
}

function encodeNote(name: string, content: Buffer): Buffer {
  const nameSize = Buffer.byteLength(name) + 1;
  const contentAt = 12 + roundUp(nameSize, NOTE_ALIGNMENT);
  const note = Buffer.alloc(contentAt + roundUp(content.length, NOTE_ALIGNMENT));
  note.writeUInt32LE(nameSize, 0);
  note.writeUInt32LE(content.length, 4);
  note.write(name, 12);
  content.copy(note, contentAt);
  return note;
}

function roundUp(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
