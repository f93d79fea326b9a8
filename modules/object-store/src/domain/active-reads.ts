import type { ContentLocation } from './ports/records.ts';

/** Content that is being read here; its bytes stay until the last reader is done, also when the grace is over. */
export class ActiveReads {
  readonly #counts = new Map<string, number>();

  /** Answers how to leave again. */
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
