import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sandboxErrors } from '../errors.ts';
import type { ImageCatalog, ImageEntry } from './catalog.ts';
import { runTool } from './run-tool.ts';
import { builderOf, describeSource } from './sources/image-source.ts';

export interface PreparedImage {
  /** `sha256-…` of the archive that the image was unpacked from. */
  readonly digest: string;
  /** Absolute path of the unpacked root file system; never written to. */
  readonly rootfs: string;
}

/**
 * Images on this machine: `images/<digest>/rootfs`, unpacked once, and `names/<name>.json` that says which digest a name
 * stands for. What appears there is whole: everything is made in `work/` and renamed. Several processes may share it.
 */
export class ImageStore {
  readonly #folder: string;
  readonly #catalog: ImageCatalog;
  readonly #running = new Map<string, Promise<PreparedImage>>();
  readonly #stopped = new AbortController();

  constructor(folder: string, catalog: ImageCatalog) {
    this.#folder = folder;
    this.#catalog = catalog;
  }

  /** Makes the folders and removes what interrupted processes left unfinished. */
  async open(): Promise<void> {
    for (const name of ['images', 'names', 'work']) await mkdir(join(this.#folder, name), { recursive: true });
    for (const name of await readdir(join(this.#folder, 'work'))) {
      const pid = Number(name.split('-')[0]);
      if (!isAlive(pid)) await rm(join(this.#folder, 'work', name), { recursive: true, force: true });
    }
  }

  /** The image, made first if need be. Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED, whose message names every source. */
  async prepare(name: string, signal: AbortSignal): Promise<PreparedImage> {
    const entry = this.#catalog.find(name);
    if (entry === null) {
      throw sandboxErrors.UNKNOWN_IMAGE({ details: { image: name, supported_images: this.#catalog.names() } });
    }
    const cached = await this.#cached(entry);
    if (cached !== null) return cached;
    // One preparation serves everybody who asks meanwhile, and goes on when the one who asked first has given up.
    const running = this.#running.get(entry.name) ?? this.#begin(entry);
    return unlessAborted(running, signal, entry.name);
  }

  async isCached(entry: ImageEntry): Promise<boolean> {
    return (await this.#cached(entry)) !== null;
  }

  /** The unpacked image of a digest that was prepared earlier. */
  async byDigest(digest: string): Promise<PreparedImage | null> {
    const rootfs = join(this.#folder, 'images', digest, 'rootfs');
    return (await isFolder(rootfs)) ? { digest, rootfs } : null;
  }

  /** Ends preparations that still run and waits for them. */
  async close(): Promise<void> {
    this.#stopped.abort(new Error('the platform is shutting down'));
    await Promise.allSettled(this.#running.values());
  }

  #begin(entry: ImageEntry): Promise<PreparedImage> {
    const running = this.#make(entry).finally(() => this.#running.delete(entry.name));
    running.catch(() => undefined); // whoever waits is told; that nobody waits any more is no fault
    this.#running.set(entry.name, running);
    return running;
  }

  async #make(entry: ImageEntry): Promise<PreparedImage> {
    const reasons: string[] = [];
    for (const source of entry.sources) {
      const work = join(this.#folder, 'work', `${process.pid}-${randomBytes(6).toString('hex')}`);
      try {
        await mkdir(work, { mode: 0o700 });
        const archive = await builderOf(source)(work, this.#stopped.signal);
        const prepared = await this.#unpack(archive, work);
        await this.#remember(entry, prepared.digest, describeSource(source));
        return prepared;
      } catch (error) {
        reasons.push(`${describeSource(source)}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    }
    throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: entry.name, reason: reasons.join(' | ') } });
  }

  async #unpack(archive: string, work: string): Promise<PreparedImage> {
    const digest = `sha256-${await sha256Of(archive)}`;
    const known = await this.byDigest(digest);
    if (known !== null) return known;
    const image = join(work, 'image');
    await mkdir(join(image, 'rootfs'), { recursive: true, mode: 0o755 });
    const keep = ['--numeric-owner', '--same-permissions', '--xattrs', '--xattrs-include=*', '--exclude=./dev/*'];
    await runTool('tar', ['-C', join(image, 'rootfs'), ...keep, '-xf', archive], { signal: this.#stopped.signal });
    await runTool('sync', ['-f', image], { signal: this.#stopped.signal });
    await rename(image, join(this.#folder, 'images', digest)).catch((error: NodeJS.ErrnoException) => {
      // Another process unpacked the same bytes meanwhile.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return { digest, rootfs: join(this.#folder, 'images', digest, 'rootfs') };
  }

  async #cached(entry: ImageEntry): Promise<PreparedImage | null> {
    let text: string;
    try {
      text = await readFile(this.#nameFile(entry), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // readFile rejects with errno errors only
      throw error;
    }
    const digest: unknown = (JSON.parse(text) as Record<string, unknown>)['digest']; // written by #remember below
    return typeof digest === 'string' ? this.byDigest(digest) : null;
  }

  async #remember(entry: ImageEntry, digest: string, source: string): Promise<void> {
    const file = this.#nameFile(entry);
    const temporary = `${file}.${process.pid}`;
    await writeFile(temporary, JSON.stringify({ digest, source, sources: entry.sources }), { flush: true });
    await rename(temporary, file);
  }

  /** A changed source list is another image: its key is part of the name. */
  #nameFile(entry: ImageEntry): string {
    const key = createHash('sha256').update(JSON.stringify(entry.sources)).digest('hex').slice(0, 12);
    return join(this.#folder, 'names', `${entry.name}-${key}.json`);
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal, image: string): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void =>
    reject(sandboxErrors.IMAGE_PULL_FAILED({ details: { image, reason: 'it is still being prepared; try again' } }));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // process.kill throws errno errors only
  }
}
