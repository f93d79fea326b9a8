/** What may come between two collections: little enough that the next full one is not started for it. */
const COLLECT_EVERY_BYTES = 4 * 1024 * 1024;

/**
 * Each read of a socket brings memory outside of the heap, which is free again as soon as it was passed on. V8 sees how
 * much of it there is, but not how young it is: it marks the whole heap for every few megabytes that pass through. A
 * collection of the young generation alone takes a fraction of that. Does nothing in a process without `--expose-gc`.
 */
export class YoungMemory {
  #bytesSince = 0;

  took(sizeBytes: number): void {
    this.#bytesSince += sizeBytes;
    if (this.#bytesSince < COLLECT_EVERY_BYTES) return;
    this.#bytesSince = 0;
    globalThis.gc?.({ type: 'minor', execution: 'sync' });
  }
}
