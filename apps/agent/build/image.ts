import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BuildInfo } from '../src/build-info.ts';
import { namesOf, type Architecture } from './architecture.ts';
import { readBuildStamp } from './build-stamp.ts';
import { bundleAgent, type AgentBundle } from './bundle.ts';
import { debianLibraries } from './debian-libraries.ts';
import { writeLayer, type Blob, type Layer } from './image-layer.ts';
import { AGENT_NODE_FLAGS } from './node-flags.ts';
import { fetchNodeProgram, type NodeProgram } from './node-program.ts';
import { writeTar, type TarEntry } from '@svc/archive';

export interface ImageOptions {
  /** Root folder of the project. */
  root: string;
  architecture: Architecture;
  /** Archive to write; never left incomplete. */
  output: string;
  /** Image name in container engines; defaults to `localhost/svc-agent:VERSION`. */
  name?: string | undefined;
  cacheFolder: string;
  packagesFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface BuiltImage {
  name: string;
  /** Digest of the image's manifest. */
  digest: string;
  sizeBytes: number;
}

/** A user id that nothing else on a node uses; the same as in distroless images. */
const USER = 65_532;
const NODE_PATH = 'usr/local/bin/node';
const PROGRAM_PATH = 'usr/lib/svc-agent/svc-agent.cjs';
const OCI = 'application/vnd.oci.image';

/**
 * Writes the agent's image as one archive: an OCI image layout (image-spec v1) that also contains the file `docker
 * load` needs. Layers are split by how often they change: libraries, Node, the agent.
 */
export async function buildImage(options: ImageOptions): Promise<BuiltImage> {
  const { root, output, signal } = options;
  const stamp = await readBuildStamp(root);
  const bundle = await bundleAgent(root, stamp);
  const node = await fetchNodeProgram(options);
  const folder = await mkdtemp(join(tmpdir(), 'svc-agent-image-'));
  try {
    const libraries = await debianLibraries({ ...options, workFolder: folder });
    const layers = [
      await writeLayer(folder, [...libraries, ...ACCOUNT_FILES], signal),
      await writeLayer(folder, await nodeFiles(node), signal),
      await writeLayer(folder, await agentFiles(root, bundle), signal),
    ];
    const name = options.name ?? `localhost/svc-agent:${stamp.version}`;
    const config = await putJson(folder, imageConfig(options.architecture, stamp, node, layers));
    const manifest = await putJson(folder, imageManifest(config, layers));
    const archive = writeTar(createArchive(name, manifest, config, layers));
    await pipeline(
      Readable.from(archive),
      createWriteStream(`${output}.part`),
      ...(signal === undefined ? [] : [{ signal }]),
    );
    await rename(`${output}.part`, output);
    return { name, digest: manifest.digest, sizeBytes: (await stat(output)).size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const ACCOUNT_FILES: readonly TarEntry[] = [
  { type: 'file', path: 'etc/passwd', content: `root:x:0:0:root:/:/none\nsvc-agent:x:${USER}:${USER}::/:/none\n` },
  { type: 'file', path: 'etc/group', content: `root:x:0:\nsvc-agent:x:${USER}:\n` },
  { type: 'file', path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nhosts: files dns\n' },
  { type: 'folder', path: 'tmp', mode: 0o1777 },
];

async function nodeFiles({ folder }: NodeProgram): Promise<TarEntry[]> {
  const file = join(folder, 'bin', 'node');
  return [
    { type: 'stored', path: NODE_PATH, mode: 0o755, file, sizeBytes: (await stat(file)).size },
    { type: 'file', path: 'usr/share/doc/node/LICENSE', content: await readFile(join(folder, 'LICENSE')) },
  ];
}

async function agentFiles(root: string, bundle: AgentBundle): Promise<TarEntry[]> {
  const documents = 'usr/share/doc/svc-agent';
  return [
    { type: 'file', path: PROGRAM_PATH, content: bundle.code },
    { type: 'file', path: `${documents}/LICENSE`, content: await readFile(join(root, 'LICENSE')) },
    { type: 'file', path: `${documents}/THIRD-PARTY-NOTICES`, content: bundle.notices },
    { type: 'folder', path: 'config' },
    { type: 'folder', path: 'var/lib/svc-agent', mode: 0o700, owner: USER },
  ];
}

function imageConfig(
  architecture: Architecture,
  stamp: BuildInfo,
  { version }: NodeProgram,
  layers: readonly Layer[],
): object {
  const steps = ['libraries that Node needs', `Node ${version}`, `svc-agent ${stamp.version}`];
  return {
    created: stamp.buildDate,
    architecture: namesOf(architecture).oci,
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      // Few arenas, because each Node thread would keep freed memory in its own.
      Env: ['PATH=/usr/local/bin', 'MALLOC_ARENA_MAX=2'],
      Entrypoint: [`/${NODE_PATH}`, ...AGENT_NODE_FLAGS, `/${PROGRAM_PATH}`],
      Cmd: ['run'],
      WorkingDir: '/',
      ExposedPorts: { '8080/tcp': {}, '9091/tcp': {} },
      Labels: {
        'org.opencontainers.image.title': 'svc-agent',
        'org.opencontainers.image.version': stamp.version,
        'org.opencontainers.image.revision': stamp.gitCommit,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: steps.map((comment) => ({ created: stamp.buildDate, created_by: 'svc agent image', comment })),
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

function createArchive(name: string, manifest: Blob, config: Blob, layers: readonly Layer[]): TarEntry[] {
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
