/** Creates a generator of numbers in [0, 1) that depend only on the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export interface Mutation {
  random: () => number;
  /** Tokens that are meaningful to the parser. */
  dictionary: readonly Buffer[];
  /** Another input of the corpus, to splice from. */
  other: Buffer;
  maxBytes: number;
}

const INTERESTING_BYTES = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x2e, 0x2f, 0x3a, 0x3b, 0x3d, 0x7f, 0x80, 0xff];
const MAX_EDITS = 6;
const MAX_PIECE_BYTES = 64;

/** Returns a copy of the input with up to six random edits, never longer than `maxBytes`. */
export function mutate(input: Buffer, mutation: Mutation): Buffer {
  let bytes: Buffer = Buffer.from(input);
  const edits = 1 + below(mutation.random, MAX_EDITS);
  for (let edit = 0; edit < edits; edit += 1) bytes = editOnce(bytes, mutation);
  return bytes.subarray(0, mutation.maxBytes);
}

function editOnce(bytes: Buffer, { random, dictionary, other }: Mutation): Buffer {
  const at = below(random, bytes.length + 1);
  const length = below(random, Math.min(MAX_PIECE_BYTES, bytes.length - at) + 1);
  switch (below(random, 8)) {
    case 0: // one bit
      if (at < bytes.length) bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << below(random, 8)), at);
      return bytes;
    case 1: // one byte
      if (at < bytes.length) bytes.writeUInt8(INTERESTING_BYTES[below(random, INTERESTING_BYTES.length)] ?? 0, at);
      return bytes;
    case 2: // delete
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 3: // repeat
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    case 4: // splice
      return Buffer.concat([bytes.subarray(0, at), pickPiece(other, random), bytes.subarray(at + length)]);
    case 5: // move
      return Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]);
    default: // insert or overwrite a token
      return Buffer.concat([bytes.subarray(0, at), token(dictionary, random), bytes.subarray(at + (length >> 3))]);
  }
}

function token(dictionary: readonly Buffer[], random: () => number): Buffer {
  return dictionary[below(random, dictionary.length + 1)] ?? Buffer.from([below(random, 256)]);
}

function pickPiece(other: Buffer, random: () => number): Buffer {
  const start = below(random, other.length + 1);
  return other.subarray(start, start + below(random, MAX_PIECE_BYTES));
}

/** Returns an integer in [0, limit). */
export function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}
