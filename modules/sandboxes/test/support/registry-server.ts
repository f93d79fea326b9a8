import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { findCommand, freePort, temporaryFolder, waitFor } from '@svc/testing';
import { tarArchive, type TarEntry } from './tar-archive.ts';

/** A layer to push: the entries of an archive, or the archive itself. */
export interface TestLayer {
  readonly entries?: readonly TarEntry[];
  readonly archive?: Buffer;
  readonly compression?: 'gzip' | 'zstd' | 'none';
  /** Overrides the compressed bytes. */
  readonly compressed?: Buffer;
}

export interface TestImage {
  readonly layers: readonly TestLayer[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly architecture?: string;
  readonly format?: 'oci' | 'docker';
  readonly diffIds?: readonly string[];
}

export interface Pushed {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly layerDigests: readonly string[];
}

/** The distribution's own registry on loopback, filled by ordinary pushes. */
export interface RegistryServer {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  push(repository: string, tag: string, image: TestImage): Promise<Pushed>;
  pushIndex(repository: string, tag: string, images: readonly (Pushed & { platform: object })[]): Promise<string>;
  pushManifest(repository: string, tag: string, mediaType: string, document: object): Promise<string>;
  close(): Promise<void>;
}

export interface RegistryServerOptions {
  /** Lines for the `auth` section of its configuration. */
  readonly auth?: string;
  /** Files to put beside the configuration; `{folder}` in `auth` is replaced by their folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Authorization header for pushes. */
  readonly authorization?: (repository: string) => string;
}

/** `user` with the password `secret`, as `htpasswd -B` writes it. */
export const HTPASSWD_LINE = 'user:$2y$05$UjABOw1sEy6sN.VCMBBW2u6rFh3nM8HTo6AHjAg00LOVWPrrTRZLO\n';

export async function startRegistry(options: RegistryServerOptions = {}): Promise<RegistryServer> {
  const folder = await temporaryFolder('svc-registry-');
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  for (const [name, content] of Object.entries(options.files ?? {})) await writeFile(join(folder.path, name), content);
  const auth = options.auth === undefined ? '' : `auth:\n${options.auth.replaceAll('{folder}', folder.path)}\n`;
  await writeFile(
    join(folder.path, 'config.yml'),
    `version: 0.1\nlog: {level: error}\nstorage:\n  filesystem: {rootdirectory: ${folder.path}/data}\n` +
      `http: {addr: "${host}", secret: test}\n${auth}`,
  );
  const program = findCommand('docker-registry') ?? 'docker-registry';
  const child = spawn(program, ['serve', join(folder.path, 'config.yml')], { stdio: 'ignore' });
  await waitFor(
    () =>
      fetch(`http://${host}/v2/`).then(
        () => true,
        () => false,
      ),
    {
      timeoutMs: 20_000,
      description: 'the registry to listen',
    },
  );
  const client = new PushClient(`http://${host}`, options.authorization ?? (() => ''));
  return {
    host,
    push: (repository, tag, image) => client.push(repository, tag, image),
    pushIndex: (repository, tag, images) =>
      client.putManifest(repository, tag, 'application/vnd.oci.image.index.v1+json', {
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.index.v1+json',
        manifests: images.map(({ digest, sizeBytes, mediaType, platform }) => ({
          mediaType,
          digest,
          size: sizeBytes,
          platform,
        })),
      }),
    pushManifest: (repository, tag, mediaType, document) => client.putManifest(repository, tag, mediaType, document),
    async close() {
      await ended(child);
      await folder.remove();
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await closed;
}

export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

class PushClient {
  readonly #url: string;
  readonly #authorization: (repository: string) => string;

  constructor(url: string, authorization: (repository: string) => string) {
    this.#url = url;
    this.#authorization = authorization;
  }

  async push(repository: string, tag: string, image: TestImage): Promise<Pushed> {
    const oci = image.format !== 'docker';
    const layers = [];
    const diffIds: string[] = [];
    for (const layer of image.layers) {
      const archive = layer.archive ?? tarArchive(layer.entries ?? []);
      const form = layer.compression ?? 'gzip';
      const bytes = layer.compressed ?? { gzip: gzipSync, zstd: zstdCompressSync, none: Buffer.from }[form](archive);
      diffIds.push(digestOf(archive));
      layers.push({ mediaType: layerType(oci, form), digest: await this.#blob(repository, bytes), size: bytes.length });
    }
    const configuration = Buffer.from(
      JSON.stringify({
        os: 'linux',
        architecture: image.architecture ?? (process.arch === 'x64' ? 'amd64' : process.arch),
        config: image.config ?? {},
        rootfs: { type: 'layers', diff_ids: image.diffIds ?? diffIds },
      }),
    );
    const mediaType = oci
      ? 'application/vnd.oci.image.manifest.v1+json'
      : 'application/vnd.docker.distribution.manifest.v2+json';
    const document = {
      schemaVersion: 2,
      mediaType,
      config: {
        mediaType: oci ? 'application/vnd.oci.image.config.v1+json' : 'application/vnd.docker.container.image.v1+json',
        digest: await this.#blob(repository, configuration),
        size: configuration.length,
      },
      layers,
    };
    const digest = await this.putManifest(repository, tag, mediaType, document);
    const sizeBytes = Buffer.byteLength(JSON.stringify(document));
    return { digest, sizeBytes, mediaType, layerDigests: layers.map((layer) => layer.digest) };
  }

  async putManifest(repository: string, tag: string, mediaType: string, document: object): Promise<string> {
    const body = JSON.stringify(document);
    const answer = await fetch(`${this.#url}/v2/${repository}/manifests/${tag}`, {
      method: 'PUT',
      headers: { ...this.#headers(repository), 'content-type': mediaType },
      body,
    });
    if (answer.status !== 201) throw new Error(`manifest refused: ${answer.status} ${await answer.text()}`);
    return digestOf(Buffer.from(body));
  }

  async #blob(repository: string, content: Buffer): Promise<string> {
    const digest = digestOf(content);
    const headers = this.#headers(repository);
    const begun = await fetch(`${this.#url}/v2/${repository}/blobs/uploads/`, { method: 'POST', headers });
    const location = new URL(begun.headers.get('location') ?? '', this.#url);
    location.searchParams.set('digest', digest);
    const put = await fetch(location, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(content),
    });
    if (put.status !== 201) throw new Error(`blob refused: ${put.status} ${await put.text()}`);
    return digest;
  }

  #headers(repository: string): Record<string, string> {
    const authorization = this.#authorization(repository);
    return authorization === '' ? {} : { authorization };
  }
}

function layerType(oci: boolean, form: 'gzip' | 'zstd' | 'none'): string {
  if (oci) return `application/vnd.oci.image.layer.v1.tar${form === 'none' ? '' : `+${form}`}`;
  return `application/vnd.docker.image.rootfs.diff.tar${form === 'none' ? '' : `.${form}`}`;
}
