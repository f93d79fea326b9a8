import { constants as fileFlags, createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { replaceFile, type Clock } from '@svc/runtime';
import { MAX_ROOT_BYTES, POD_FORMAT } from '../../../domain/clusters/pod-capabilities.ts';
import {
  assertSandboxId,
  type ArchiveDriver,
  type SandboxSpec,
  type SaveDriver,
  type SnapshotDriver,
  type StartPlace,
} from '../../../domain/driver.ts';
import type { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { sandboxErrors } from '../../../errors.ts';
import {
  archiveOf,
  measureRoot,
  openArchive,
  openRoot,
  restoreRoot,
  type SavedFacts,
  type SavedRoot,
} from './pod-files.ts';

const ROOT = 'root.tar.zst';
const RECORD = 'snapshot.json';
/** Fast: it is compressed while the sandbox is paused. */
const LEVEL = 1;

/** How the helper of a sandbox is used. */
export interface HelperUse {
  /** Whether its processes are paused meanwhile. */
  readonly freezes: boolean;
  /** Ends the use at once. The processes stay paused if the sandbox ends, too. */
  readonly signal: AbortSignal;
}

/** What both kinds of copies need of the driver. */
export interface PodCopiesOptions {
  /** Name of the driver. */
  readonly driver: string;
  /** Uses the helper of a created sandbox, running or not. */
  readonly withHelper: <Result>(
    id: string,
    use: HelperUse,
    work: (connection: HelperConnection) => Promise<Result>,
  ) => Promise<Result>;
  readonly create: (
    spec: SandboxSpec,
    saved: (signal: AbortSignal) => Promise<SavedRoot>,
    signal: AbortSignal,
    place: StartPlace | undefined,
  ) => Promise<void>;
  readonly clock: Clock;
}

export interface PodSnapshotsOptions extends PodCopiesOptions {
  readonly folder: string;
  /** Whether a pod of any node has the sandbox. */
  readonly isHeld: (id: string) => Promise<boolean>;
}

/** Streams the files of pods, and keeps none of them. */
export function createPodSaves({ driver, withHelper, create, clock }: PodCopiesOptions): SaveDriver {
  return {
    format: POD_FORMAT,
    sizeBytes: (id, signal) =>
      withHelper(id, { freezes: false, signal }, (connection) => {
        assertCopies(connection, driver);
        return measureRoot(connection, clock);
      }),
    save: (id, maxBytes, signal, keep) =>
      withHelper(id, { freezes: true, signal }, async (connection) => {
        assertCopies(connection, driver);
        const root = await openRoot(connection, maxBytes, signal, clock);
        try {
          return await keep(archiveOf(root, root.content));
        } finally {
          root.abandon();
        }
      }),
    create: (spec, archive, signal, place) => create(spec, (until) => openArchive(archive, until), signal, place),
  };
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
      format: POD_FORMAT,
      base: () => Promise.resolve(null),
      describeBase: () => Promise.reject(sandboxErrors.ARCHIVE_DAMAGED()),
      readBase: () => {
        throw sandboxErrors.ARCHIVE_DAMAGED(); // nothing is based on anything
      },
      addBase: () => Promise.reject(sandboxErrors.ARCHIVE_DAMAGED()),
      read: (snapshotId, signal) => this.#read(snapshotId, signal),
      mayContinue: async (id) => !(await options.isHeld(id)),
      create: (spec, archive, signal, place) =>
        options.create(spec, (until) => openArchive(archive, until), signal, place),
    };
  }

  async take(id: string, snapshotId: string, signal = NEVER): Promise<{ sizeBytes: number }> {
    const folder = this.#folderOf(snapshotId);
    const { withHelper, driver, clock } = this.#options;
    try {
      return await withHelper(id, { freezes: true, signal }, async (connection) => {
        assertCopies(connection, driver);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const file = join(folder, ROOT);
        const saved = await saveRoot(connection, file, signal, clock);
        await replaceFile(join(folder, RECORD), JSON.stringify(saved));
        return { sizeBytes: (await stat(file)).size };
      });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async sizeBytes(of: { readonly sandbox: string } | { readonly snapshot: string }, signal = NEVER): Promise<number> {
    if ('snapshot' in of) return sizeOf(join(this.#folderOf(of.snapshot), ROOT));
    const { withHelper, driver, clock } = this.#options;
    return withHelper(of.sandbox, { freezes: false, signal }, (connection) => {
      assertCopies(connection, driver);
      return measureRoot(connection, clock);
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
    const file = join(this.#folderOf(snapshotId), ROOT);
    yield* archiveOf(await this.#record(snapshotId), unpacked(createReadStream(file, { signal })));
  }

  async #record(snapshotId: string): Promise<SavedFacts> {
    try {
      return JSON.parse(await readFile(join(this.#folderOf(snapshotId), RECORD), 'utf8')) as SavedFacts; // our own file
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // of readFile
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    }
  }

  #folderOf(snapshotId: string): string {
    assertSandboxId(snapshotId);
    return join(this.#options.folder, snapshotId);
  }
}

/** A pod keeps the helper that it was created with. */
function assertCopies(connection: HelperConnection, driver: string): void {
  if (!connection.has('root')) throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { driver } });
}

/** Complete and on disk when this resolves. */
async function saveRoot(
  connection: HelperConnection,
  file: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<SavedFacts> {
  const { architecture, content, abandon } = await openRoot(connection, MAX_ROOT_BYTES, signal, clock);
  try {
    const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    const source = Readable.from(content, { objectMode: false });
    await pipeline(source, compress, createWriteStream(file, { mode: 0o600, flush: true }));
    return { architecture };
  } finally {
    abandon();
  }
}

const NEVER = new AbortController().signal;

function unpacked(content: Readable): AsyncIterable<Buffer> {
  const decompress = createZstdDecompress();
  void pipeline(content, decompress).catch(() => undefined); // the reader of the second one receives the error
  return decompress;
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return found?.size ?? 0;
}
