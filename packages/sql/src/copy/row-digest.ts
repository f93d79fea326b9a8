import { createHash } from 'node:crypto';
import type { Row, TableLayout } from './table-layout.ts';

const MODULUS = 1n << 128n;

/** Count and checksum of the rows of a table. */
export interface TableDigest {
  readonly rows: number;
  readonly checksum: string;
}

/**
 * Sums the hashes of rows, so that their order does not matter: the databases sort text differently. A sum, because equal
 * rows would cancel each other out in an exclusive or.
 */
export class RowDigest {
  readonly #columns: readonly string[];
  #rows = 0;
  #sum = 0n;

  constructor({ columns }: TableLayout) {
    this.#columns = columns.map(({ name }) => name).toSorted();
  }

  add(row: Row): void {
    const hash = createHash('sha256');
    for (const column of this.#columns) {
      const value = row[column] ?? null;
      if (value === null) hash.update('n;');
      else if (typeof value === 'number') hash.update(`i${String(value)};`);
      else {
        const bytes = typeof value === 'string' ? Buffer.from(value) : value;
        hash.update(`${typeof value === 'string' ? 't' : 'b'}${bytes.byteLength};`).update(bytes);
      }
    }
    this.#rows += 1;
    this.#sum = (this.#sum + BigInt(`0x${hash.digest('hex').slice(0, 32)}`)) % MODULUS;
  }

  result(): TableDigest {
    return { rows: this.#rows, checksum: this.#sum.toString(16).padStart(32, '0') };
  }
}
