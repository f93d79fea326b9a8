import { statfs } from 'node:fs/promises';

/** What is asked before something that a tenant wants is written. */
export interface DiskSpace {
  /** Whether so many bytes more would leave the reserve untouched. False when the free space cannot be told. */
  hasRoom(sizeBytes: number): Promise<boolean>;
  /** The same, for bytes that are written now: they count at once. */
  take(sizeBytes: number): Promise<boolean>;
}

export interface DiskFigures {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

export interface DiskReserveOptions {
  /** A folder on the file system that is watched. */
  folder: string;
  /** Null: `defaultReserveBytes` of the file system. */
  reserveBytes: number | null;
  nowMs?: () => number;
  /** Told when a measurement finds only the reserve left, and when there is room again. */
  onChange?: (isShort: boolean, figures: DiskFigures) => void;
  /** Size and free space of the file system of a folder. */
  measure?: (folder: string) => Promise<{ totalBytes: number; freeBytes: number }>;
}

interface Measured {
  readonly atMs: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

const GiB = 1024 ** 3;
/** A measurement is this old at most; what was taken since counts as written. */
const MAX_AGE_MS = 250;
/** Close to the reserve the disk is asked again, at most this often. */
const MIN_AGE_MS = 10;
/** Room that must be there above the reserve, as a share of it, before a short disk counts as roomy again. */
const ROOM_AGAIN = 0.05;

/** 5 %, at least 1 GiB and at most 20 GiB, but never more than a quarter of a small disk. */
export function defaultReserveBytes(totalBytes: number): number {
  return Math.floor(Math.min(totalBytes / 4, 20 * GiB, Math.max(GiB, totalBytes / 20)));
}

/** Keeps space free that no tenant can take, so that databases, logs and deletes work on a disk that is full for everybody else. */
export class DiskReserve implements DiskSpace {
  readonly #options: DiskReserveOptions;
  readonly #nowMs: () => number;
  readonly #measure: NonNullable<DiskReserveOptions['measure']>;
  #last: Measured | null = null;
  #measuring: Promise<Measured> | null = null;
  /** Taken since the last measurement. */
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
      return false; // a disk that does not answer takes nothing
    }
  }

  /** Measures now. Throws what the file system says. */
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
    this.#tellChange(measured);
    return measured;
  }

  #tellChange({ totalBytes, freeBytes }: Measured): void {
    const reserveBytes = this.#reserveOf(totalBytes);
    const isShort = freeBytes < reserveBytes * (this.#isShort ? 1 + ROOM_AGAIN : 1);
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    this.#options.onChange?.(isShort, { totalBytes, freeBytes, reserveBytes });
  }
}

/** For tests, and for programs that write for nobody but the operator. */
export const unlimitedDisk: DiskSpace = {
  hasRoom: () => Promise.resolve(true),
  take: () => Promise.resolve(true),
};

async function measureFileSystem(folder: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
