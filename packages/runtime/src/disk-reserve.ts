import { statfs } from 'node:fs/promises';

/** Port that is asked before tenant data is written. */
export interface DiskSpace {
  /** Whether this many more bytes would leave the reserve intact. False if the free space is unknown. */
  hasRoom(sizeBytes: number): Promise<boolean>;
  /** Like `hasRoom`, but counts the bytes immediately because they are written now. */
  take(sizeBytes: number): Promise<boolean>;
}

/** Measured sizes of a disk and its reserve. */
export interface DiskFigures {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

/** Options of a disk reserve. */
export interface DiskReserveOptions {
  /** A folder on the monitored file system. */
  folder: string;
  /** Null: `defaultReserveBytes` of the file system. */
  reserveBytes: number | null;
  nowMs?: () => number;
  /** Called when only the reserve is left, and when there is space again. */
  onChange?: (isShort: boolean, figures: DiskFigures) => void;
  /** Returns size and free space of a folder's file system. */
  measure?: (folder: string) => Promise<{ totalBytes: number; freeBytes: number }>;
}

interface Measured {
  readonly atMs: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

const GiB = 1024 ** 3;
/** Maximum age of a measurement; bytes taken since count as written. */
const MAX_AGE_MS = 250;
/** Near the reserve, the disk is measured at most this often. */
const MIN_AGE_MS = 10;
/** Space required above the reserve, as a fraction of it, before a full disk counts as available again. */
const ROOM_AGAIN = 0.05;

/** 5 %, at least 1 GiB and at most 20 GiB, but never more than a quarter of a small disk. */
export function defaultReserveBytes(totalBytes: number): number {
  return Math.floor(Math.min(totalBytes / 4, 20 * GiB, Math.max(GiB, totalBytes / 20)));
}

/** Keeps space that tenants cannot use, so that databases, logs and deletes still work on an otherwise full disk. */
export class DiskReserve implements DiskSpace {
  readonly #options: DiskReserveOptions;
  readonly #nowMs: () => number;
  readonly #measure: NonNullable<DiskReserveOptions['measure']>;
  #last: Measured | null = null;
  #measuring: Promise<Measured> | null = null;
  /** Bytes taken since the last measurement. */
  #takenBytes = 0;
  #isShort = false;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#measure = options.measure ?? measureFileSystem;
  }

  hasRoom(sizeBytes: number): Promise<boolean> {
    return this.#check(sizeBytes, 0);
  }

  take(sizeBytes: number): Promise<boolean> {
    return this.#check(sizeBytes, sizeBytes);
  }

  async #check(sizeBytes: number, takenBytes: number): Promise<boolean> {
    try {
      let measured = this.#last;
      if (measured === null || this.#ageMs(measured) >= MAX_AGE_MS) measured = await this.#measureOnce();
      if (!this.#fits(measured, sizeBytes) && this.#ageMs(measured) >= MIN_AGE_MS) measured = await this.#measureOnce();
      if (!this.#fits(measured, sizeBytes)) return false;
      this.#takenBytes += takenBytes; // in the same turn as the check
      return true;
    } catch {
      return false; // a disk that cannot be measured accepts nothing
    }
  }

  /** Measures now. Throws file system errors. */
  async figures(): Promise<DiskFigures> {
    const { totalBytes, freeBytes } = await this.#measureOnce();
    return { totalBytes, freeBytes, reserveBytes: this.#reserveOf(totalBytes) };
  }

  #fits({ totalBytes, freeBytes }: Measured, sizeBytes: number): boolean {
    return freeBytes - this.#takenBytes - sizeBytes >= this.#reserveOf(totalBytes);
  }

  #reserveOf(totalBytes: number): number {
    return this.#options.reserveBytes ?? defaultReserveBytes(totalBytes);
  }

  #ageMs({ atMs }: Measured): number {
    return this.#nowMs() - atMs;
  }

  #measureOnce(): Promise<Measured> {
    this.#measuring ??= this.#readDisk().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  async #readDisk(): Promise<Measured> {
    const atMs = this.#nowMs();
    const measured = { atMs, ...(await this.#measure(this.#options.folder)) };
    this.#last = measured;
    this.#takenBytes = 0;
    this.#notifyChange(measured);
    return measured;
  }

  #notifyChange({ totalBytes, freeBytes }: Measured): void {
    const reserveBytes = this.#reserveOf(totalBytes);
    const isShort = freeBytes < reserveBytes * (this.#isShort ? 1 + ROOM_AGAIN : 1);
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    this.#options.onChange?.(isShort, { totalBytes, freeBytes, reserveBytes });
  }
}

/** No reserve; for tests and for programs that write only operator data. */
export const unlimitedDisk: DiskSpace = {
  hasRoom: () => Promise.resolve(true),
  take: () => Promise.resolve(true),
};

async function measureFileSystem(folder: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
