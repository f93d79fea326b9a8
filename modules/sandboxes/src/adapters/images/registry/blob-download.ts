import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { BlobDescriptor } from './manifest.ts';
import type { ImageReference } from './reference.ts';
import type { RegistryClient } from './registry-client.ts';
import { RegistryFailure } from './registry-failure.ts';
import type { RegistryAnswer } from './registry-http.ts';

export interface DownloadOptions {
  readonly client: RegistryClient;
  readonly reference: ImageReference;
  readonly blob: BlobDescriptor;
  /** Target file; data of an earlier download is kept and continued. */
  readonly file: string;
  readonly signal: AbortSignal;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Reports bytes downloaded so far, of `blob.sizeBytes`. */
  readonly progress: (bytes: number) => void;
}

/** Consecutive attempts without a single byte. */
const MAX_FRUITLESS_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 250;
const READ_BYTES = 1024 * 1024;
const WRITE_BYTES = 1024 * 1024;

/**
 * Downloads a blob to a file. Checks digest and size while streaming, and resumes by Range after a lost connection. On
 * return, the file matches the digest exactly. Throws `RegistryFailure`.
 */
export async function downloadBlob(options: DownloadOptions): Promise<void> {
  const { blob, file, signal, sleep } = options;
  const handle = await open(file, 'a+', 0o600);
  try {
    const sink = new BlobSink(handle, blob, options.progress);
    await sink.adopt(file);
    let fruitless = 0;
    while (sink.sizeBytes < blob.sizeBytes || (blob.sizeBytes === 0 && fruitless === 0)) {
      const before = sink.sizeBytes;
      try {
        await receive(options, sink);
        if (sink.sizeBytes < blob.sizeBytes) throw new RegistryFailure('it ends too early', { retryable: true });
        break;
      } catch (error) {
        signal.throwIfAborted();
        fruitless = sink.sizeBytes > before ? 0 : fruitless + 1;
        const mayRetry = error instanceof RegistryFailure && error.retryable;
        if (!mayRetry || fruitless >= MAX_FRUITLESS_ATTEMPTS) throw error;
        await sleep(FIRST_PAUSE_MS * 2 ** fruitless, signal);
      }
    }
    if (!sink.isWhole()) {
      await sink.restart(); // never resume from this data
      throw new RegistryFailure(`the layer ${shorten(blob.digest)} is not what its digest says`);
    }
  } finally {
    await handle.close();
  }
}

async function receive({ client, reference, blob, signal }: DownloadOptions, sink: BlobSink): Promise<void> {
  const answer = await client.openBlob(reference, blob, sink.sizeBytes, signal);
  try {
    if (!continuesAt(answer, sink.sizeBytes)) await sink.restart();
    if (answer.status === 416) throw new RegistryFailure('it refuses to continue', { retryable: true });
    for await (const chunk of answer.body as AsyncIterable<Buffer>) await sink.write(chunk);
    await sink.flush();
  } catch (error) {
    await sink.flush();
    if (error instanceof RegistryFailure || isFileFault(error)) throw error;
    throw new RegistryFailure('the connection was lost', { retryable: true, cause: error });
  } finally {
    answer.body.destroy();
  }
}

/** A server may ignore the range and send everything; any other response except the rest is rejected. */
function continuesAt({ status, headers }: RegistryAnswer, offset: number): boolean {
  if (offset === 0) return status === 200;
  return status === 206 && new RegExp(`^bytes ${offset}-`).test(headers['content-range'] ?? '');
}

function isFileFault(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && ['write', 'ftruncate'].includes(String(error.syscall));
}

/** The file and the hash of its content; combines small chunks into large writes. */
class BlobSink {
  readonly #handle: FileHandle;
  readonly #blob: BlobDescriptor;
  readonly #progress: (bytes: number) => void;
  #hash: Hash;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  sizeBytes = 0;

  constructor(handle: FileHandle, blob: BlobDescriptor, progress: (bytes: number) => void) {
    this.#handle = handle;
    this.#blob = blob;
    this.#progress = progress;
    this.#hash = createHash(algorithmOf(blob.digest));
  }

  /** Adopts existing content of the file. */
  async adopt(file: string): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size > this.#blob.sizeBytes) return this.restart();
    if (size === 0) return;
    for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
      this.#hash.update(chunk);
      this.sizeBytes += chunk.length;
    }
    this.#progress(this.sizeBytes);
  }

  async write(chunk: Buffer): Promise<void> {
    if (this.sizeBytes + chunk.length > this.#blob.sizeBytes) {
      await this.restart();
      throw new RegistryFailure(`the layer ${shorten(this.#blob.digest)} is larger than announced`);
    }
    this.#hash.update(chunk);
    this.sizeBytes += chunk.length;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= WRITE_BYTES) await this.flush();
    this.#progress(this.sizeBytes);
  }

  async flush(): Promise<void> {
    const chunks = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let rest = Buffer.concat(chunks); rest.length > 0;) {
      const { bytesWritten } = await this.#handle.write(rest);
      rest = rest.subarray(bytesWritten);
    }
  }

  async restart(): Promise<void> {
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#handle.truncate(0);
    this.#hash = createHash(algorithmOf(this.#blob.digest));
    this.sizeBytes = 0;
  }

  isWhole(): boolean {
    const digest = `${algorithmOf(this.#blob.digest)}:${this.#hash.copy().digest('hex')}`;
    return this.sizeBytes === this.#blob.sizeBytes && digest === this.#blob.digest;
  }
}

function algorithmOf(digest: string): string {
  return digest.split(':')[0] ?? '';
}

/** Shortens a digest for display. */
function shorten(digest: string): string {
  return digest.slice(0, 'sha256:'.length + 12);
}
