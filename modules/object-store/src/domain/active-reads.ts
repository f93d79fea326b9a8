import type { ContentLocation } from './ports/records.ts';
import type { TrashEntry } from './ports/trash.ts';

interface Read {
  count: number;
  readonly sinceMs: number;
  readonly content: TrashEntry;
}

/**
 * Content being read in this process. Its bytes are kept until the last reader is done, even after the grace period.
 */
export class ActiveReads {
  readonly #reads = new Map<string, Read>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns a function that ends the read. */
  enter(location: ContentLocation): () => void {
    const content = contentIn(location);
    if (content === null) return () => undefined;
    const name = nameOf(content);
    const read = this.#reads.get(name) ?? { count: 0, sinceMs: this.#nowMs(), content };
    this.#reads.set(name, read);
    read.count += 1;
    return () => {
      read.count -= 1;
      if (read.count === 0) this.#reads.delete(name);
    };
  }

  isRead(content: TrashEntry): boolean {
    return this.#reads.has(nameOf(content));
  }

  /** Content that has been read without a break since then or longer. */
  since(startedBeforeMs: number): readonly TrashEntry[] {
    return [...this.#reads.values()].filter(({ sinceMs }) => sinceMs <= startedBeforeMs).map(({ content }) => content);
  }
}

function contentIn(location: ContentLocation): TrashEntry | null {
  if (location.kind === 'blob') return { kind: 'blob', contentId: location.blobId };
  return location.kind === 'manifest' ? { kind: 'manifest', contentId: location.manifestId } : null;
}

function nameOf({ kind, contentId }: TrashEntry): string {
  return `${kind}/${contentId}`;
}
