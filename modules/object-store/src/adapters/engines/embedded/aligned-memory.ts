/** The part of WebAssembly used here. TypeScript ships its types only with the DOM library. */
interface WebAssemblyRuntime {
  Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
}

const WASM_PAGE_BYTES = 65_536;

/**
 * Slots of one size at page boundaries, as `O_DIRECT` requires. They come from a WebAssembly memory, the only memory in
 * Node.js with a guaranteed page-aligned address; untouched pages cost nothing. The memory never grows, because growing
 * would move it during a write. `take` never blocks: without a free slot, the caller writes through the page cache.
 */
export class AlignedMemory {
  readonly slotBytes: number;
  readonly #slots: number;
  #free: Uint8Array[] | null = null;

  /** `slotBytes` must be a multiple of 64 KiB. */
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
