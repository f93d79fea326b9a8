import type { FileOwner } from '../api/sandbox-types.ts';

interface Place {
  workspaceUuid: string;
  teamUuid: string | undefined;
  /** The object's key, or the absolute path in the sandbox or volume. */
  key: string;
}

export type BucketTarget = Place & { bucket: string };
export type FileTarget = Place & { owner: FileOwner };

/** The target of an upload. */
export type UploadTarget = BucketTarget | FileTarget;

export function isFileTarget(target: UploadTarget): target is FileTarget {
  return 'owner' in target;
}

export type UploadState = 'waiting' | 'sending' | 'paused' | 'failed' | 'done';

export interface Upload {
  readonly id: number;
  readonly target: UploadTarget;
  readonly file: File;
  readonly state: UploadState;
  readonly sentBytes: number;
  /** For this attempt: bytes sent before a pause don't count. */
  readonly bytesPerSecond: number;
  readonly error: unknown;
}

export interface SendHooks {
  signal: AbortSignal;
  /** Bytes received by the platform, including earlier attempts. */
  onProgress: (sentBytes: number) => void;
}

/** Sends a file; sending it again resumes where it stopped. Rejects with the signal's reason on abort. */
export type SendFile = (target: UploadTarget, file: File, hooks: SendHooks) => Promise<void>;
/** Deletes the platform's data of an unfinished upload. */
export type DiscardFile = (target: UploadTarget, file: File) => Promise<void>;

export interface UploadQueueOptions {
  send: SendFile;
  discard: DiscardFile;
  /** Called for each stored target. */
  onStored: (target: UploadTarget) => void;
  now: () => number;
  atOnce?: number;
}

interface Entry {
  upload: Upload;
  abort: AbortController | null;
  startedAtMs: number;
  startedBytes: number;
}

const FINISHED_KEPT = 200;

/** Sends a bounded number of files at a time, in order; each can be paused and resumed. */
export class UploadQueue {
  readonly #options: UploadQueueOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #listeners = new Set<() => void>();
  #snapshot: readonly Upload[] = [];
  #nextId = 1;

  constructor(options: UploadQueueOptions) {
    this.#options = options;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns the same array until something changes; newest last. */
  snapshot = (): readonly Upload[] => this.#snapshot;

  add(files: readonly { target: UploadTarget; file: File }[]): void {
    for (const { target, file } of files) {
      const id = this.#nextId;
      this.#nextId += 1;
      const upload: Upload = { id, target, file, state: 'waiting', sentBytes: 0, bytesPerSecond: 0, error: null };
      this.#entries.set(id, { upload, abort: null, startedAtMs: 0, startedBytes: 0 });
    }
    this.#fill();
    this.#notify();
  }

  pause(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || (entry.upload.state !== 'sending' && entry.upload.state !== 'waiting')) return;
    this.#stop(entry, { state: 'paused', bytesPerSecond: 0 });
  }

  /** Resumes a paused or failed upload. */
  resume(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || (entry.upload.state !== 'paused' && entry.upload.state !== 'failed')) return;
    this.#change(entry, { state: 'waiting', error: null });
    this.#fill();
    this.#notify();
  }

  /** Cancels an upload and deletes its data; only removes the row of a finished one. */
  remove(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const { state, target, file, sentBytes } = entry.upload;
    this.#entries.delete(id);
    this.#stop(entry, { state: 'paused' });
    // A failure is harmless: the platform aborts unfinished uploads after some days.
    if (state !== 'done' && sentBytes > 0) void this.#options.discard(target, file).catch(() => undefined);
  }

  clearFinished(): void {
    for (const [id, { upload }] of this.#entries) if (upload.state === 'done') this.#entries.delete(id);
    this.#notify();
  }

  #stop(entry: Entry, changes: Partial<Upload>): void {
    this.#change(entry, changes);
    entry.abort?.abort();
    entry.abort = null;
    this.#fill();
    this.#notify();
  }

  #fill(): void {
    const atOnce = this.#options.atOnce ?? 3;
    let sending = 0;
    for (const { upload } of this.#entries.values()) if (upload.state === 'sending') sending += 1;
    for (const entry of this.#entries.values()) {
      if (sending >= atOnce) return;
      if (entry.upload.state !== 'waiting') continue;
      sending += 1;
      void this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    const abort = new AbortController();
    entry.abort = abort;
    entry.startedAtMs = this.#options.now();
    entry.startedBytes = -1;
    this.#change(entry, { state: 'sending', bytesPerSecond: 0 });
    const current = (): boolean => entry.abort === abort;
    try {
      await this.#options.send(entry.upload.target, entry.upload.file, {
        signal: abort.signal,
        onProgress: (sentBytes) => {
          if (current()) this.#progress(entry, sentBytes);
        },
      });
      if (!current()) return;
      this.#change(entry, { state: 'done', sentBytes: entry.upload.file.size, bytesPerSecond: 0 });
      this.#options.onStored(entry.upload.target);
    } catch (error) {
      if (!current()) return;
      this.#change(entry, { state: 'failed', bytesPerSecond: 0, error });
    }
    entry.abort = null;
    this.#forgetOldest();
    this.#fill();
    this.#notify();
  }

  #progress(entry: Entry, sentBytes: number): void {
    if (entry.startedBytes === -1) entry.startedBytes = sentBytes;
    const seconds = (this.#options.now() - entry.startedAtMs) / 1_000;
    const bytesPerSecond = seconds > 0.5 ? Math.max(0, (sentBytes - entry.startedBytes) / seconds) : 0;
    this.#change(entry, { sentBytes, bytesPerSecond });
    this.#notify();
  }

  #change(entry: Entry, changes: Partial<Upload>): void {
    entry.upload = { ...entry.upload, ...changes };
  }

  #forgetOldest(): void {
    let finished = 0;
    for (const { upload } of this.#entries.values()) if (upload.state === 'done') finished += 1;
    for (const [id, { upload }] of this.#entries) {
      if (finished <= FINISHED_KEPT) return;
      if (upload.state !== 'done') continue;
      this.#entries.delete(id);
      finished -= 1;
    }
  }

  #notify(): void {
    this.#snapshot = [...this.#entries.values()].map(({ upload }) => upload);
    for (const listener of this.#listeners) listener();
  }
}
