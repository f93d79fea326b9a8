import { crcModuleBytes, INPUT_BYTES, INPUT_OFFSET, LANE_BYTES } from './crc-module.ts';

/** Reflected polynomials. Every register starts as all ones and is inverted at the end. */
export const CRC_POLYNOMIALS = {
  CRC32: { width: 32, reflected: 0xedb88320n },
  CRC32C: { width: 32, reflected: 0x82f63b78n },
  /** NVM Express NVM Command Set specification, section 5.2.1.3.4: 64-bit CRC of Rocksoft. */
  CRC64NVME: { width: 64, reflected: 0x9a6c9329ac4bc9b5n },
} as const;

export type KernelCrc = 'CRC32C' | 'CRC64NVME';
const KERNEL_CRCS: readonly KernelCrc[] = ['CRC32C', 'CRC64NVME'];
const TABLE_ENTRIES = 256;
const TABLES = 8;

/** The part of the WebAssembly API that is used. TypeScript declares its types only with the DOM's. */
interface WebAssemblyRuntime {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

interface KernelExports {
  memory: { buffer: ArrayBuffer };
  crc(register: bigint, length: number, table: number): bigint;
  crcOfAll(register: bigint, table: number, shift: number): bigint;
}

/** CRC32C and CRC64NVME at gigabytes per second; Node has no native functions for them. Use one kernel per thread. */
export class CrcKernel {
  readonly #run: KernelExports['crc'];
  readonly #runAll: KernelExports['crcOfAll'];
  readonly #memory: ArrayBuffer;
  readonly #input: Uint8Array;
  /** CRCs whose shift tables have been computed. */
  readonly #shifted = new Set<KernelCrc>();

  constructor() {
    const { WebAssembly: runtime } = globalThis as unknown as { WebAssembly: WebAssemblyRuntime }; // see above
    const instance = new runtime.Instance(new runtime.Module(crcModuleBytes()));
    const exports = instance.exports as KernelExports; // the module exports exactly these
    this.#run = exports.crc;
    this.#runAll = exports.crcOfAll;
    this.#memory = exports.memory.buffer;
    this.#input = new Uint8Array(exports.memory.buffer, INPUT_OFFSET, INPUT_BYTES);
    for (const crc of KERNEL_CRCS) {
      new BigUint64Array(exports.memory.buffer, tableOffset(crc), TABLES * TABLE_ENTRIES).set(slicingTables(crc));
    }
  }

  /** Continues from a register. Start with `initialRegister`, end with `finishRegister`. */
  update(crc: KernelCrc, register: bigint, chunk: Uint8Array): bigint {
    const table = tableOffset(crc);
    if (chunk.length >= INPUT_BYTES) this.#makeShift(crc);
    let current = register;
    for (let start = 0; start < chunk.length; start += INPUT_BYTES) {
      const piece = chunk.length <= INPUT_BYTES ? chunk : chunk.subarray(start, start + INPUT_BYTES);
      this.#input.set(piece);
      const isWhole = piece.length === INPUT_BYTES;
      current = isWhole ? this.#runAll(current, table, shiftOffset(crc)) : this.#run(current, piece.length, table);
    }
    return current;
  }

  /**
   * Builds the tables that advance a register over a lane of zeros. This is linear, so the results for single bits are
   * enough.
   */
  #makeShift(crc: KernelCrc): void {
    if (this.#shifted.has(crc)) return;
    this.#shifted.add(crc);
    this.#input.fill(0);
    const ofBits = Array.from({ length: 64 }, (_, bit) => this.#run(1n << BigInt(bit), LANE_BYTES, tableOffset(crc)));
    const tables = new BigUint64Array(this.#memory, shiftOffset(crc), TABLES * TABLE_ENTRIES);
    for (let index = 0; index < tables.length; index += 1) {
      const byte = TABLES - 1 - Math.floor(index / TABLE_ENTRIES);
      let value = 0n;
      for (let bit = 0; bit < 8; bit += 1) if ((index >> bit) & 1) value ^= ofBits[byte * 8 + bit] ?? 0n;
      tables[index] = value;
    }
  }
}

export function initialRegister(crc: KernelCrc): bigint {
  return (1n << BigInt(CRC_POLYNOMIALS[crc].width)) - 1n;
}

/** Big-endian bytes, which S3 encodes as base64. */
export function finishRegister(crc: KernelCrc, register: bigint): Buffer {
  const width = CRC_POLYNOMIALS[crc].width;
  const value = BigInt.asUintN(width, ~register);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes.subarray(8 - width / 8);
}

function tableOffset(crc: KernelCrc): number {
  return KERNEL_CRCS.indexOf(crc) * TABLES * TABLE_ENTRIES * 8;
}

function shiftOffset(crc: KernelCrc): number {
  return (KERNEL_CRCS.length + KERNEL_CRCS.indexOf(crc)) * TABLES * TABLE_ENTRIES * 8;
}

function slicingTables(crc: KernelCrc): BigUint64Array {
  const { reflected } = CRC_POLYNOMIALS[crc];
  const tables = new BigUint64Array(TABLES * TABLE_ENTRIES);
  for (let index = 0; index < TABLE_ENTRIES; index += 1) {
    let value = BigInt(index);
    for (let bit = 0; bit < 8; bit += 1) value = (value & 1n) === 1n ? (value >> 1n) ^ reflected : value >> 1n;
    tables[index] = value;
  }
  for (let index = TABLE_ENTRIES; index < tables.length; index += 1) {
    const previous = tables[index - TABLE_ENTRIES] ?? 0n;
    tables[index] = (previous >> 8n) ^ (tables[Number(previous & 255n)] ?? 0n);
  }
  return tables;
}
