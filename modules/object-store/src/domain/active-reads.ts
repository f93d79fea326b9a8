import type { ContentLocation } from './ports/records.ts';

/**
 * Content being read in this process. Its bytes are kept until the last reader is done, even after the grace period.
 */
export class ActiveReads {
  readonly #counts = new Map<string, number>();

  /** Returns a function that ends the read. */
  enter(location: ContentLocation): () => void {
    const name = nameOf(location);
    if (name === null) return () => undefined;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left === 0) this.#counts.delete(name);
      else this.#counts.set(name, left);
    };
  }

  isRead(kind: 'blob' | 'manifest', contentId: string): boolean {
    return this.#counts.has(`${kind}/${contentId}`);
  }
}

function nameOf(location: ContentLocation): string | null {
  if (location.kind === 'blob') return `blob/${location.blobId}`;
  return location.kind === 'manifest' ? `manifest/${location.manifestId}` : null;
}
