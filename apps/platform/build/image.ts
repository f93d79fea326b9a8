import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TarEntry } from '@svc/archive';
import {
  accountEntries,
  debianLibraries,
  fetchNodeProgram,
  IMAGE_NODE_PATH,
  IMAGE_USER,
  nodeEntries,
  readBuildStamp,
  sbomFile,
  writeImage,
  writeSbom,
  type Architecture,
  type BuildStamp,
  type BuiltImage,
  type ImageConfig,
} from '@svc/packaging';
import { programTree } from './program-tree.ts';

export interface PlatformImageOptions {
  /** Root folder of the project, with installed dependencies. */
  root: string;
  architecture: Architecture;
  /** The built console. */
  consoleFolder: string;
  /** The sandbox helper of the architecture. */
  helperFile: string;
  /** The program that serves mounted buckets, of the architecture. */
  mountFile: string;
  /** Archive to write; never left incomplete. Its bill of materials is written beside it. */
  output: string;
  /** Image name in container engines; defaults to `localhost/svc:VERSION`. */
  name?: string | undefined;
  cacheFolder: string;
  /** Folder with the `.deb` files of libraries, instead of the distribution's archive. */
  packagesFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

const PROGRAM_FOLDER = 'usr/lib/svc';
/** Loads the sources without their types (decision 0008). */
const PRELOAD = `/${PROGRAM_FOLDER}/apps/cli/src/start/stripped-sources.mjs`;
/** Node flags of the launcher `svc`; its number of V8 helper threads depends on the machine and is fixed here. */
const NODE_FLAGS: readonly string[] = [
  `--require=${PRELOAD}`,
  '--max-semi-space-size=8',
  '--v8-pool-size=2',
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
];
const DATA_FOLDER = 'var/lib/svc';
const HEALTHCHECK_PATH = `${PROGRAM_FOLDER}/healthcheck.mjs`;
const SECOND_NS = 1_000_000_000;

/** Version, commit and date of the platform's sources. */
export function readPlatformStamp(root: string): Promise<BuildStamp> {
  const sources = ['apps', 'deploy', 'migrations', 'modules', 'native', 'packages', 'sdks', 'package-lock.json'];
  return readBuildStamp({ root, manifest: 'package.json', sources });
}

/** Writes the platform's image. Layers are split by how often they change: libraries, Node, the platform. */
export async function buildPlatformImage(options: PlatformImageOptions): Promise<BuiltImage> {
  const { root, architecture, output, cacheFolder, signal } = options;
  const stamp = await readPlatformStamp(root);
  const node = await fetchNodeProgram(options);
  const tree = await programTree({ ...options, target: PROGRAM_FOLDER });
  const workFolder = await mkdtemp(join(tmpdir(), 'svc-platform-image-'));
  try {
    const libraries = await debianLibraries({ ...options, workFolder, certificates: true });
    const image = await writeImage({
      output,
      name: options.name ?? `localhost/svc:${stamp.version}`,
      title: 'svc',
      createdBy: 'svc package image',
      architecture,
      stamp,
      config: CONFIG,
      layers: [
        { comment: 'libraries that Node needs', entries: [...libraries.entries, ...accountEntries('svc')] },
        { comment: `Node ${node.version}`, entries: await nodeEntries(node) },
        { comment: `svc ${stamp.version}`, entries: [...tree.entries, ...(await imageFiles(root, architecture))] },
      ],
      cacheFolder,
      signal,
    });
    const components = [...libraries.components, node.component, ...tree.components];
    await writeSbom(sbomFile(output), { name: 'svc', type: 'container', stamp, components });
    return image;
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

const MAIN_PATH = `/${PROGRAM_FOLDER}/apps/cli/src/main.ts`;

const CONFIG: ImageConfig = {
  User: `${IMAGE_USER}:${IMAGE_USER}`,
  Env: [
    'PATH=/usr/local/bin:/usr/bin',
    `SVC_DATA=/${DATA_FOLDER}`,
    'SVC_HOST=0.0.0.0',
    // Trust certificates that an operator adds to the file below /etc/ssl, as well as Node's own.
    'NODE_USE_SYSTEM_CA=1',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
    // As the launcher: few arenas, and freed blocks of 4 MiB return to the system (decision 0008).
    'MALLOC_ARENA_MAX=2',
    'MALLOC_MMAP_THRESHOLD_=4194304',
  ],
  Entrypoint: [`/${IMAGE_NODE_PATH}`, ...NODE_FLAGS, MAIN_PATH],
  Cmd: ['platform'],
  WorkingDir: '/',
  ExposedPorts: { '4000/tcp': {}, '4443/tcp': {}, '9000/tcp': {} },
  Volumes: { [`/${DATA_FOLDER}`]: {} },
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', `/${IMAGE_NODE_PATH}`, `/${HEALTHCHECK_PATH}`],
    Interval: 10 * SECOND_NS,
    Timeout: 5 * SECOND_NS,
    StartPeriod: 60 * SECOND_NS,
    StartInterval: SECOND_NS,
    Retries: 3,
  },
};

/** The image has no shell: `svc` is a script of Node, so that `docker exec CONTAINER svc status` works. */
const COMMAND = `#!/${IMAGE_NODE_PATH} --disable-warning=ExperimentalWarning
require('${PRELOAD}');
import('${MAIN_PATH}');
`;

/** Where pods of sandboxes expect the helper in an image that brings it. */
const HELPER_LINK = '.sandbox/agent';

async function imageFiles(root: string, architecture: Architecture): Promise<TarEntry[]> {
  return [
    {
      type: 'link',
      path: HELPER_LINK,
      target: `/${PROGRAM_FOLDER}/helper/linux-${architecture}/sandbox-agent`,
    },
    { type: 'file', path: 'usr/bin/svc', mode: 0o755, content: COMMAND },
    { type: 'file', path: HEALTHCHECK_PATH, content: await readFile(join(root, 'deploy/image/healthcheck.mjs')) },
    { type: 'folder', path: DATA_FOLDER, mode: 0o700, owner: IMAGE_USER },
  ];
}
