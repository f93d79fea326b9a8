/** The part of the language's own library that is used; TypeScript has its types only together with the browser's. */
interface WebAssemblyRuntime {
  Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
}

const WASM_PAGE_BYTES = 65_536;

/**
 * Slots of one size for what the kernel takes only from page boundaries (`O_DIRECT`). The memory is WebAssembly's, the
 * only one in Node.js whose address is known to be at such a boundary; what is not touched of it costs nothing. It never
 * grows, since that would move it under a write. Nobody waits: without a free slot there is another way to write.
 */
export class AlignedMemory {
  readonly slotBytes: number;
  readonly #slots: number;
  #free: Uint8Array[] | null = null;

  /** `slotBytes`: a multiple of 64 KiB. */
  constructor(slotBytes: number, slots: number) {
    this.slotBytes = slotBytes;
    this.#slots = slots;
  }

  take(): Uint8Array | null {
    this.#free ??= this.#allocate();
    return this.#free.pop() ?? null;
  }

  give(slot: Uint8Array): void {
    this.#free?.push(slot);
  }

  #allocate(): Uint8Array[] {
    const { WebAssembly: runtime } = globalThis as unknown as { WebAssembly: WebAssemblyRuntime }; // see above
    const pages = (this.#slots * this.slotBytes) / WASM_PAGE_BYTES;
    const { buffer } = new runtime.Memory({ initial: pages, maximum: pages });
    return Array.from(
      { length: this.#slots },
      (_, index) => new Uint8Array(buffer, index * this.slotBytes, this.slotBytes),
    );
  }
}
