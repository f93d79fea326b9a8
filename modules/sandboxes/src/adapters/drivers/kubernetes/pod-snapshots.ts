import { constants as fileFlags, createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { replaceFile } from '@svc/runtime';
import { PieceReader } from '../../../domain/archives/archive-codec.ts';
import { readHeader, writeHeader } from '../../../domain/archives/archive-header.ts';
import {
  assertSandboxId,
  type ArchiveDriver,
  type ArchiveSource,
  type SandboxSpec,
  type SnapshotDriver,
  type StartPlace,
} from '../../../domain/driver.ts';
import { IncomingBytes } from '../../../domain/files/incoming-bytes.ts';
import { TRANSFER_WINDOW_BYTES } from '../../../domain/helper/frames.ts';
import type { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import type { Outcome } from '../../../domain/helper/helper-stream.ts';
import { sandboxErrors } from '../../../errors.ts';

const ROOT = 'root.tar.zst';
const RECORD = 'snapshot.json';
const LIMITS = { max_entries: 2_000_000, max_bytes: 64 * 1024 ** 3 };
/** Fast: it is compressed while the sandbox is paused. */
const LEVEL = 1;

/** What is needed to turn an archive of a root into files again. */
interface Saved {
  /** Processor architecture of its programs, as Go names it. */
  readonly architecture: string;
}

/** The files of a sandbox, outside of it. Close it after use. */
export interface SavedRoot {
  /** Gives them to a sandbox that has not been started. Throws ROOTFS_FAILED. */
  restore(connection: HelperConnection, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface PodSnapshotsOptions {
  readonly folder: string;
  /** Name of the driver. */
  readonly driver: string;
  /** Uses the helper of a created sandbox, running or not. `freezes`: its processes are paused meanwhile. */
  readonly withHelper: <Result>(
    id: string,
    freezes: boolean,
    work: (connection: HelperConnection) => Promise<Result>,
  ) => Promise<Result>;
  readonly create: (
    spec: SandboxSpec,
    saved: () => Promise<SavedRoot>,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ) => Promise<void>;
  /** Whether a pod of any node has the sandbox. */
  readonly isHeld: (id: string) => Promise<boolean>;
}

/**
 * Copies of all files of a sandbox: `<id>/root.tar.zst`, made and restored by the helper, because nothing outside of a pod
 * reaches its files. The record beside it comes last: without it, a copy is incomplete.
 */
export class PodSnapshots implements SnapshotDriver {
  readonly archives: ArchiveDriver;
  readonly #options: PodSnapshotsOptions;

  constructor(options: PodSnapshotsOptions) {
    this.#options = options;
    this.archives = {
      format: 'pods',
      base: () => Promise.resolve(null),
      readBase: () => {
        throw sandboxErrors.ARCHIVE_DAMAGED(); // nothing is based on anything
      },
      addBase: () => Promise.reject(sandboxErrors.ARCHIVE_DAMAGED()),
      read: (snapshotId, signal) => this.#read(snapshotId, signal),
      mayContinue: async (id) => !(await options.isHeld(id)),
      create: (spec, archive, signal, place) => options.create(spec, () => openArchive(archive), signal, place),
    };
  }

  async take(id: string, snapshotId: string): Promise<{ sizeBytes: number }> {
    const folder = this.#folderOf(snapshotId);
    try {
      return await this.#options.withHelper(id, true, async (connection) => {
        this.#assertCopies(connection);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const file = join(folder, ROOT);
        const saved = await saveRoot(connection, file);
        await replaceFile(join(folder, RECORD), JSON.stringify(saved));
        return { sizeBytes: (await stat(file)).size };
      });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async sizeBytes(of: { readonly sandbox: string } | { readonly snapshot: string }): Promise<number> {
    if ('snapshot' in of) return sizeOf(join(this.#folderOf(of.snapshot), ROOT));
    return this.#options.withHelper(of.sandbox, false, async (connection) => {
      this.#assertCopies(connection);
      const { bytes } = resultOf(await connection.call({ op: 'root.measure', ...LIMITS }));
      return typeof bytes === 'number' && bytes >= 0 ? bytes : 0;
    });
  }

  /** Throws ROOTFS_FAILED if this node does not have it. */
  async open(snapshotId: string): Promise<SavedRoot> {
    const saved = await this.#record(snapshotId);
    const file = await open(join(this.#folderOf(snapshotId), ROOT), fileFlags.O_RDONLY | fileFlags.O_NOFOLLOW);
    const content = file.createReadStream({ autoClose: false });
    return {
      restore: (connection, signal) => restoreRoot(connection, saved, unpacked(content), signal),
      close: () => file.close(),
    };
  }

  async remove(snapshotId: string): Promise<void> {
    await rm(this.#folderOf(snapshotId), { recursive: true, force: true });
  }

  async list(): Promise<readonly string[]> {
    return readdir(this.#options.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  async *#read(snapshotId: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield writeHeader(await this.#record(snapshotId));
    yield* unpacked(createReadStream(join(this.#folderOf(snapshotId), ROOT), { signal }));
  }

  async #record(snapshotId: string): Promise<Saved> {
    try {
      return JSON.parse(await readFile(join(this.#folderOf(snapshotId), RECORD), 'utf8')) as Saved; // our own file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // of readFile
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    }
  }

  /** A pod keeps the helper that it was created with. */
  #assertCopies(connection: HelperConnection): void {
    if (!connection.has('root'))
      throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { driver: this.#options.driver } });
  }

  #folderOf(snapshotId: string): string {
    assertSandboxId(snapshotId);
    return join(this.#options.folder, snapshotId);
  }
}

/** The archive is the record, then the files. */
async function openArchive(archive: ArchiveSource): Promise<SavedRoot> {
  const reader = new PieceReader(archive.open());
  try {
    const saved = (await readHeader(reader)) as Saved; // written by `#read`, and sealed since
    return {
      restore: (connection, signal) => restoreRoot(connection, saved, reader.rest(), signal),
      close: () => reader.close(),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** Complete and on disk when this resolves. */
async function saveRoot(connection: HelperConnection, file: string): Promise<Saved> {
  const incoming = new IncomingBytes();
  let architecture = '';
  const stream = connection.start(
    { op: 'root.save', ...LIMITS },
    {
      windowBytes: TRANSFER_WINDOW_BYTES,
      data: (bytes) => incoming.push(bytes),
      event: (event) => (architecture = String(event['architecture'])),
    },
  );
  void stream.outcome.then(() => incoming.end());
  try {
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    const content = Readable.from(copies(incoming.chunks(stream)), { objectMode: false });
    await pipeline(content, compress, createWriteStream(file, { mode: 0o600, flush: true }));
    resultOf(await stream.outcome);
    return { architecture };
  } finally {
    stream.abandon();
  }
}

/** A chunk is valid until the next one is requested, but a compressor holds several. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

async function restoreRoot(
  connection: HelperConnection,
  { architecture }: Saved,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  if (!connection.has('root')) {
    throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the image of the helper is too old for snapshots' } });
  }
  const stream = connection.start(
    { op: 'root.restore', architecture, ...LIMITS },
    { inputWindowBytes: TRANSFER_WINDOW_BYTES },
  );
  const abandon = (): void => stream.abandon();
  signal.addEventListener('abort', abandon, { once: true });
  try {
    for await (const chunk of content) {
      signal.throwIfAborted();
      if (!(await stream.write(Buffer.from(chunk)))) break; // the outcome says why
    }
    stream.finishInput();
    resultOf(await stream.outcome);
  } finally {
    signal.removeEventListener('abort', abandon);
    stream.abandon();
  }
}

function unpacked(content: Readable): AsyncIterable<Buffer> {
  const decompress = createZstdDecompress();
  void pipeline(content, decompress).catch(() => undefined); // the reader of the second one receives the error
  return decompress;
}

function resultOf(outcome: Outcome): Readonly<Record<string, unknown>> {
  if (outcome.ok) return outcome.result;
  throw sandboxErrors.ROOTFS_FAILED({ details: { reason: outcome.message } });
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return found?.size ?? 0;
}
