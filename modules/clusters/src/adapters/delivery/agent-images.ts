import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredBytes } from '@svc/http';
import {
  createIndex,
  readImageArchive,
  type ImageArchitecture,
  type ImageArchive,
  type ImageIndex,
} from './image-archive.ts';

export const IMAGE_ARCHITECTURES: readonly ImageArchitecture[] = ['amd64', 'arm64'];

export interface AgentImagesOptions {
  /** Folder with the archives; need not exist. */
  folder: string;
  onRejected: (file: string, error: unknown) => void;
}

interface Known {
  /** Identifies one version of the file's content. */
  key: string;
  /** Null if the archive was rejected. */
  archive: Promise<ImageArchive | null>;
}

/**
 * Agent images that an operator has put into a folder as `svc-agent-amd64.tar` and `svc-agent-arm64.tar`. Each version
 * of a file is read and hashed once, on first use; a replaced file takes effect on the next call.
 */
export class AgentImages {
  readonly #options: AgentImagesOptions;
  readonly #known = new Map<ImageArchitecture, Known>();

  constructor(options: AgentImagesOptions) {
    this.#options = options;
  }

  async available(): Promise<ImageArchitecture[]> {
    const found = await Promise.all(IMAGE_ARCHITECTURES.map((each) => this.#withArchive(each, async () => each)));
    return found.filter((each) => each !== null);
  }

  /** One index per tag, listing the images with that tag (OCI image-spec, "Image Index"). */
  async indexes(): Promise<ImageIndex[]> {
    const images = await this.#archives();
    const tags = [...new Set(images.map(({ tag }) => tag))].toSorted();
    return tags.map((tag) => createIndex(images.filter((image) => image.tag === tag)));
  }

  /** Returns the manifest of one architecture by digest. */
  async manifest(digest: string): Promise<ImageArchive['manifest'] | null> {
    const images = await this.#archives();
    return images.find(({ manifest }) => manifest.digest === digest)?.manifest ?? null;
  }

  async blob(digest: string): Promise<StoredBytes | null> {
    for (const architecture of IMAGE_ARCHITECTURES) {
      const found = await this.#withArchive(architecture, async (archive, handle) => {
        const place = archive.blobs.get(digest);
        return place === undefined ? null : { handle, ...place };
      });
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns the whole archive, for tools that import images. */
  archive(architecture: ImageArchitecture): Promise<StoredBytes | null> {
    return this.#withArchive(architecture, async (_archive, handle) => {
      return { handle, offset: 0, sizeBytes: (await handle.stat()).size };
    });
  }

  async #archives(): Promise<ImageArchive[]> {
    const found = await Promise.all(IMAGE_ARCHITECTURES.map((each) => this.#withArchive(each, async (image) => image)));
    return found.filter((image) => image !== null);
  }

  /** Looks up and sends from the same open file, even if the path is replaced meanwhile. */
  async #withArchive<Result extends object | string>(
    architecture: ImageArchitecture,
    use: (archive: ImageArchive, handle: FileHandle) => Promise<Result | null>,
  ): Promise<Result | null> {
    const file = join(this.#options.folder, `svc-agent-${architecture}.tar`);
    const handle = await open(file).catch((error: unknown) => {
      // Treat a file that cannot be opened as missing, so that registering a cluster does not fail.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
        this.#options.onRejected(file, error);
      return null;
    });
    if (handle === null) return null;
    let result: Result | null = null;
    try {
      const archive = await this.#read(architecture, file, handle);
      result = archive === null ? null : await use(archive, handle);
      return result;
    } finally {
      if (!(typeof result === 'object' && result !== null && 'handle' in result)) await handle.close();
    }
  }

  async #read(architecture: ImageArchitecture, file: string, handle: FileHandle): Promise<ImageArchive | null> {
    const { ino, size, mtimeMs } = await handle.stat();
    const key = `${ino}:${size}:${mtimeMs}`;
    const known = this.#known.get(architecture);
    if (known?.key === key) return known.archive;
    const archive = readImageArchive(handle, architecture).catch((error: unknown) => {
      this.#options.onRejected(file, error);
      return null;
    });
    this.#known.set(architecture, { key, archive });
    return archive;
  }
}
