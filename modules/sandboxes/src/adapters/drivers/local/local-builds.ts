import { spawn } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { assertSandboxId, type BuildDriver, type BuiltImage, type SandboxSpec } from '../../../domain/driver.ts';
import type { ImageSettings } from '../../../domain/images/image-settings.ts';
import { sandboxErrors } from '../../../errors.ts';
import type { ImageStore, PreparedImage } from '../../images/image-store.ts';
import { layerFile, readKept, writeRecord } from './kept-sandbox.ts';

export interface LocalBuildsOptions {
  readonly dataFolder: string;
  readonly images: ImageStore;
  /** Path of the program that reads layers from disks. */
  readonly helper: () => Promise<string>;
}

/**
 * Images made from the disks of stopped sandboxes. The changes on a disk become one layer of the image store, where equal
 * layers are stored once; the record of a layer, `built/<id>.json`, holds its image as a sandbox does.
 */
export class LocalBuilds implements BuildDriver {
  readonly #options: LocalBuildsOptions;

  constructor(options: LocalBuildsOptions) {
    this.#options = options;
  }

  /** The image of a new sandbox: that of its template, or of the catalog. It is held by the sandbox. */
  async claim({ id, image, template }: SandboxSpec, signal: AbortSignal): Promise<PreparedImage> {
    const { images } = this.#options;
    if (template === null || template === undefined) return images.claim(id, image, signal);
    const built = await images.claimDigest(id, template.digest);
    if (built === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its template is gone' } });
    return built;
  }

  async base(image: string, signal: AbortSignal): Promise<BuiltImage> {
    const { digest, settings } = await this.#options.images.prepare(image, signal);
    return { digest, settings };
  }

  async find(digest: string): Promise<BuiltImage | null> {
    const found = await this.#options.images.byDigest(digest);
    return found === null ? null : { digest, settings: found.settings };
  }

  async commit(id: string, layerId: string, signal: AbortSignal): Promise<{ digest: string; sizeBytes: number }> {
    const { dataFolder, images, helper } = this.#options;
    const kept = await readKept(dataFolder, id);
    if (kept === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    const disk = join(dataFolder, 'disks', id, 'disk.img');
    const program = await helper();
    const open = async (): Promise<Readable> =>
      Readable.from(readChanges(program, disk, signal), { objectMode: false });
    const { digest, sizeBytes } = await images.extend(layerId, kept.digest, open, signal);
    await this.#record(layerId, digest);
    // From here on, the sandbox continues from the image: what was on its disk is in the layer.
    if ((await images.claimDigest(id, digest)) === null) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    }
    await writeRecord(join(dirname(disk), 'sandbox.json'), { ...kept, digest });
    await rm(disk, { force: true });
    return { digest, sizeBytes };
  }

  async hold(digest: string, layerId: string): Promise<void> {
    await this.#record(layerId, digest);
    await this.#options.images.claimDigest(layerId, digest);
  }

  async configure(digest: string, layerId: string, settings: ImageSettings, scope: string): Promise<string> {
    const configured = await this.#options.images.configure(layerId, digest, settings, scope);
    await this.#record(layerId, configured);
    return configured;
  }

  async remove(layerId: string): Promise<void> {
    assertSandboxId(layerId);
    const file = layerFile(this.#options.dataFolder, layerId);
    await rm(file, { force: true });
    await rm(`${file}.new`, { force: true }); // of a platform that ended while it wrote the record
    await this.#options.images.release(layerId);
  }

  async list(): Promise<readonly string[]> {
    const names = await readdir(join(this.#options.dataFolder, 'built')).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return [...new Set(names.flatMap((name) => /^(.+)\.json(?:\.new)?$/.exec(name)?.[1] ?? []))];
  }

  async #record(layerId: string, digest: string): Promise<void> {
    assertSandboxId(layerId);
    const file = layerFile(this.#options.dataFolder, layerId);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeRecord(file, { digest });
  }
}

/** The changes as a layer. Fails if the program does: an archive that just ends would look complete. */
async function* readChanges(program: string, disk: string, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const child = spawn(program, ['layer', disk], { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, 1000)));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  ended.catch(() => undefined); // awaited below, after the output
  try {
    yield* child.stdout as AsyncIterable<Buffer>; // no encoding is set
    if ((await ended) === 0) return;
    signal.throwIfAborted();
    throw sandboxErrors.ROOTFS_FAILED({ details: { reason: `its changes could not be read: ${complaint.trim()}` } });
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}
