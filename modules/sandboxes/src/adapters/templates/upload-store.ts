import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskSpace } from '@svc/runtime';
import { assertDiskRoom } from '../../domain/disk-room.ts';
import { plainArchive } from '../../domain/files/plain-archive.ts';
import type { TemplateFiles } from '../../domain/templates/template-files.ts';
import { sandboxErrors } from '../../errors.ts';

export interface UploadStoreOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly maxWorkspaceBytes: number;
  readonly disk: DiskSpace;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const NEW = '.new';
const READ_BYTES = 1024 * 1024;
const MEBIBYTE = 1024 * 1024;

const MAX_FILES = 10_000;

/** What a workspace uploads. */
interface UploadsUnderWay {
  count: number;
  incomingBytes: number;
  /** Of uploads that finished since the first of these began. */
  finishedBytes: number;
}

/** Archives on this machine: `<workspace>/<name>`, complete once they have that name. */
export class UploadStore implements TemplateFiles {
  readonly #options: UploadStoreOptions;
  readonly #underWay = new Map<string, UploadsUnderWay>();
  /** Incomplete files of uploads under way; a process that was killed leaves others. */
  readonly #drafts = new Set<string>();

  constructor(options: UploadStoreOptions) {
    this.#options = options;
  }

  async has(workspaceUuid: string, name: string): Promise<boolean> {
    return (await sizeOf(this.#file(workspaceUuid, name))) !== null;
  }

  async write(
    workspaceUuid: string,
    name: string,
    body: AsyncIterable<Buffer>,
    sha256: string | null,
  ): Promise<{ sizeBytes: number }> {
    const file = this.#file(workspaceUuid, name);
    await mkdir(join(this.#options.folder, workspaceUuid), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomBytes(6).toString('hex')}${NEW}`;
    const counted = { bytes: 0 };
    const uploads = this.#begin(workspaceUuid);
    this.#drafts.add(draft);
    try {
      const digest = await this.#receive(workspaceUuid, draft, body, counted, uploads);
      if (sha256 !== null && digest !== sha256) {
        throw sandboxErrors.FILES_REFUSED({ details: { reason: `their SHA-256 is ${digest}` } });
      }
      await rename(draft, file);
      uploads.finishedBytes += counted.bytes;
      return { sizeBytes: counted.bytes };
    } finally {
      uploads.incomingBytes -= counted.bytes;
      uploads.count -= 1;
      if (uploads.count === 0) this.#underWay.delete(workspaceUuid);
      await rm(draft, { force: true });
      this.#drafts.delete(draft);
    }
  }

  async open(workspaceUuid: string, name: string): Promise<AsyncIterable<Buffer> | null> {
    const file = this.#file(workspaceUuid, name);
    if ((await sizeOf(file)) === null) return null;
    const now = new Date();
    await utimes(file, now, now);
    const source: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: READ_BYTES }); // no encoding is set
    return plainArchive(source);
  }

  async sweep(before: Date): Promise<void> {
    const { folder } = this.#options;
    for (const workspace of await namesIn(folder)) {
      for (const name of await namesIn(join(folder, workspace))) {
        const file = join(folder, workspace, name);
        if (name.endsWith(NEW)) {
          if (!this.#drafts.has(file)) await rm(file, { force: true });
          continue;
        }
        const found = await stat(file).catch(noneIfMissing);
        if (found !== null && found.mtime < before) await rm(file, { force: true });
      }
    }
  }

  async #receive(
    workspaceUuid: string,
    draft: string,
    body: AsyncIterable<Buffer>,
    counted: { bytes: number },
    uploads: UploadsUnderWay,
  ): Promise<string> {
    const { maxBytes, maxWorkspaceBytes, disk } = this.#options;
    const finishedBefore = uploads.finishedBytes; // those are among the stored ones
    const storedBytes = await this.#storedBytes(workspaceUuid);
    const hash = createHash('sha256');
    const handle = await open(draft, 'wx', 0o600);
    try {
      for await (const chunk of body) {
        counted.bytes += chunk.length;
        uploads.incomingBytes += chunk.length;
        if (counted.bytes > maxBytes) throw tooLarge(`an archive has at most ${maxBytes / MEBIBYTE} MiB`);
        const finishedBytes = uploads.finishedBytes - finishedBefore;
        if (storedBytes + finishedBytes + uploads.incomingBytes > maxWorkspaceBytes) {
          throw tooLarge(`all archives of a workspace have at most ${maxWorkspaceBytes / MEBIBYTE} MiB`);
        }
        await assertDiskRoom(disk, chunk.length);
        hash.update(chunk);
        await handle.writeFile(chunk);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return hash.digest('hex');
  }

  async #storedBytes(workspaceUuid: string): Promise<number> {
    const folder = join(this.#options.folder, workspaceUuid);
    let bytes = 0;
    const names = await namesIn(folder);
    if (names.length >= MAX_FILES) throw tooLarge(`a workspace has at most ${MAX_FILES} archives`);
    for (const name of names) {
      if (!name.endsWith(NEW)) bytes += (await sizeOf(join(folder, name))) ?? 0;
    }
    return bytes;
  }

  #begin(workspaceUuid: string): UploadsUnderWay {
    const uploads = this.#underWay.get(workspaceUuid) ?? { count: 0, incomingBytes: 0, finishedBytes: 0 };
    uploads.count += 1;
    this.#underWay.set(workspaceUuid, uploads);
    return uploads;
  }

  /** Both parts are checked, so that neither is a path. */
  #file(workspaceUuid: string, name: string): string {
    if (!NAME.test(name) || !NAME.test(workspaceUuid)) {
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'hash', reason: 'must be the SHA-256 of an archive' } });
    }
    return join(this.#options.folder, workspaceUuid, name);
  }
}

function tooLarge(reason: string): Error {
  return sandboxErrors.FILES_TOO_LARGE({ details: { reason } });
}

async function sizeOf(file: string): Promise<number | null> {
  return (await stat(file).catch(noneIfMissing))?.size ?? null;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(noneIfMissing)) ?? [];
}

function noneIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
