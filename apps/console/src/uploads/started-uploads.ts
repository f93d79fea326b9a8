const STORAGE_KEY = 'svc-started-uploads';
/** The platform aborts unfinished uploads after some days, so older entries are useless. */
const MOST_KEPT = 100;

/**
 * Remembers multipart uploads by file, across page reloads. The key includes the file's size and time, so that another
 * file of the same name never resumes this one's parts.
 */
export class StartedUploads {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#storage = storage;
  }

  get(name: string): string | undefined {
    return this.#read().find(([known]) => known === name)?.[1];
  }

  set(name: string, uploadId: string): void {
    this.#write([...this.#read().filter(([known]) => known !== name), [name, uploadId]]);
  }

  delete(name: string): void {
    this.#write(this.#read().filter(([known]) => known !== name));
  }

  #read(): [name: string, uploadId: string][] {
    try {
      const kept: unknown = JSON.parse(this.#storage.getItem(STORAGE_KEY) ?? '[]');
      return Array.isArray(kept) ? kept.filter(isEntry) : [];
    } catch {
      return []; // not ours, or storage is disabled: uploads then start over
    }
  }

  #write(entries: readonly (readonly [string, string])[]): void {
    try {
      this.#storage.setItem(STORAGE_KEY, JSON.stringify(entries.slice(-MOST_KEPT)));
    } catch {
      // Storage is full or off: pausing still works, a reload begins anew.
    }
  }
}

function isEntry(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
