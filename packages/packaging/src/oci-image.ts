import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeTar, type TarEntry } from '@svc/archive';
import { namesOf, type Architecture } from './architecture.ts';
import type { BuildStamp } from './build-stamp.ts';
import { writeLayer, type Blob, type Layer } from './image-layer.ts';

/** How a container engine runs the image (OCI image-spec, "Image Configuration"), without what `writeImage` adds. */
export interface ImageConfig {
  User: string;
  Env: readonly string[];
  Entrypoint: readonly string[];
  Cmd: readonly string[];
  WorkingDir: string;
  ExposedPorts: Readonly<Record<string, object>>;
  Volumes?: Readonly<Record<string, object>>;
  /** SIGTERM by default. */
  StopSignal?: string;
  /** Docker's extension; times in nanoseconds. Other engines ignore it. */
  Healthcheck?: {
    Test: readonly string[];
    Interval: number;
    Timeout: number;
    StartPeriod: number;
    /** Interval during the start period; engines older than 25 ignore it. */
    StartInterval: number;
    Retries: number;
  };
}

/** Content of an image and where to write it. */
export interface ImageOptions {
  /** Archive to write; never left incomplete. */
  output: string;
  /** Image name in container engines, with its tag. */
  name: string;
  /** Title in the image's labels. */
  title: string;
  /** The command that builds the image, for its history. */
  createdBy: string;
  architecture: Architecture;
  stamp: BuildStamp;
  config: ImageConfig;
  /** From the one that changes least to the one that changes most. */
  layers: readonly ImageLayer[];
  /** Keeps compressed layers for later builds. */
  cacheFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** A layer's files, with the line that describes it. */
export interface ImageLayer {
  /** One line for the image's history. */
  comment: string;
  entries: readonly TarEntry[];
}

/** A written image. */
export interface BuiltImage {
  name: string;
  /** Digest of the image's manifest. */
  digest: string;
  sizeBytes: number;
}

const OCI = 'application/vnd.oci.image';

/**
 * Writes an image as one archive: an OCI image layout (image-spec v1) that also contains the file `docker load` needs.
 * The same entries give the same bytes.
 */
export async function writeImage(options: ImageOptions): Promise<BuiltImage> {
  const { name, output, cacheFolder, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    const layers: Layer[] = [];
    for (const { entries } of options.layers) layers.push(await writeLayer(entries, { folder, cacheFolder, signal }));
    const config = await putJson(folder, imageConfig(options, layers));
    const manifest = await putJson(folder, imageManifest(config, layers));
    await pipeline(
      Readable.from(writeTar(layoutEntries(name, manifest, config, layers))),
      createWriteStream(`${output}.part`),
      ...(signal === undefined ? [] : [{ signal }]),
    );
    await rename(`${output}.part`, output);
    return { name, digest: manifest.digest, sizeBytes: (await stat(output)).size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function imageConfig(
  { architecture, stamp, config, title, createdBy, layers }: ImageOptions,
  written: Layer[],
): object {
  return {
    created: stamp.buildDate,
    architecture: namesOf(architecture).oci,
    os: 'linux',
    config: {
      ...config,
      Labels: {
        'org.opencontainers.image.title': title,
        'org.opencontainers.image.version': stamp.version,
        'org.opencontainers.image.revision': stamp.gitCommit,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: written.map(({ diffId }) => diffId) },
    history: layers.map(({ comment }) => ({ created: stamp.buildDate, created_by: createdBy, comment })),
  };
}

function imageManifest(config: Blob, layers: readonly Layer[]): object {
  return {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: descriptor(`${OCI}.config.v1+json`, config),
    layers: layers.map((layer) => descriptor(`${OCI}.layer.v1.tar+gzip`, layer)),
  };
}

function layoutEntries(name: string, manifest: Blob, config: Blob, layers: readonly Layer[]): TarEntry[] {
  const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`;
  const annotations = {
    'io.containerd.image.name': name,
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [{ ...descriptor(`${OCI}.manifest.v1+json`, manifest), annotations }],
  };
  // The `docker save` format; engines older than 25 support only this.
  const docker = [{ Config: pathOf(config), RepoTags: [name], Layers: layers.map(pathOf) }];
  const blobs = [config, manifest, ...layers].toSorted((left, right) => (left.digest < right.digest ? -1 : 1));
  return [
    { type: 'file', path: 'oci-layout', content: JSON.stringify({ imageLayoutVersion: '1.0.0' }) },
    { type: 'file', path: 'index.json', content: JSON.stringify(index) },
    { type: 'file', path: 'manifest.json', content: JSON.stringify(docker) },
    { type: 'folder', path: 'blobs' },
    { type: 'folder', path: 'blobs/sha256' },
    ...blobs.map((blob): TarEntry => ({ type: 'stored', path: pathOf(blob), ...blob })),
  ];
}

function descriptor(mediaType: string, { digest, sizeBytes }: Blob): object {
  return { mediaType, digest, size: sizeBytes };
}

async function putJson(folder: string, value: object): Promise<Blob> {
  const content = Buffer.from(JSON.stringify(value));
  const hash = createHash('sha256').update(content).digest('hex');
  const file = join(folder, hash);
  await writeFile(file, content);
  return { digest: `sha256:${hash}`, file, sizeBytes: content.length };
}
