import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { TarEntry } from '@svc/archive';
import {
  createSbom,
  fetchNodeProgram,
  nodeEntries,
  sbomFile,
  writeDebianPackage,
  writeSbom,
  type Architecture,
  type BillOfMaterials,
} from '@svc/packaging';
import { readPlatformStamp } from './image.ts';
import { programTree } from './program-tree.ts';

export interface PlatformPackageOptions {
  /** Root folder of the project, with installed dependencies. */
  root: string;
  architecture: Architecture;
  /** The built console. */
  consoleFolder: string;
  /** The sandbox helper of the architecture. */
  helperFile: string;
  /** The program that serves mounted buckets, of the architecture. */
  mountFile: string;
  /** Package to write; never left incomplete. Its bill of materials is written beside it, and is also in it. */
  output: string;
  cacheFolder: string;
  signal?: AbortSignal | undefined;
}

const PROGRAM_FOLDER = 'usr/lib/svc';
const DOCUMENTS = 'usr/share/doc/svc';
const CONFFILE = 'etc/svc/platform.yaml';

/** Files of `deploy/` and `docs/`, where they are installed, and their modes. */
const FILES: readonly (readonly [source: string, path: string, mode?: number])[] = [
  ['deploy/debian/svc', 'usr/bin/svc', 0o755],
  ['deploy/debian/platform.yaml', CONFFILE],
  ['deploy/debian/copyright', `${DOCUMENTS}/copyright`],
  ['deploy/systemd/svc.service', 'usr/lib/systemd/system/svc.service'],
  ['deploy/systemd/sandboxes.conf', `${DOCUMENTS}/examples/sandboxes.conf`],
  ['docs/installation.md', `${DOCUMENTS}/installation.md`],
  ['docs/configuration.md', `${DOCUMENTS}/configuration.md`],
];
const SCRIPTS: readonly string[] = ['postinst', 'prerm', 'postrm'];

/** The package carries Node, because no distribution has the version that svc needs; it links to the system's libraries. */
const FIELDS: Readonly<Record<string, string>> = {
  Maintainer: 'svc maintainers <svc@localhost>',
  Section: 'net',
  Priority: 'optional',
  Depends: 'adduser, ca-certificates, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8)',
  Suggests: 'busybox-static, crun | runc, e2fsprogs, mmdebstrap, nftables',
  Description: [
    'self-hosted platform: clusters, object store and sandboxes',
    ' One process gives a team an S3 object store, access to Kubernetes clusters',
    ' behind any NAT, and isolated containers with terminals.',
  ].join('\n'),
};

/** Writes the platform as a Debian package with a systemd unit that runs it as the user `svc`. */
export async function buildPlatformPackage(options: PlatformPackageOptions): Promise<{ sizeBytes: number }> {
  const { root, architecture, output, cacheFolder, signal } = options;
  const stamp = await readPlatformStamp(root);
  const node = await fetchNodeProgram(options);
  const tree = await programTree({ ...options, target: PROGRAM_FOLDER });
  const components = [node.component, ...tree.components];
  const bill: BillOfMaterials = { name: 'svc', type: 'application', stamp, components };
  const read = (path: string): Promise<Buffer> => readFile(join(root, path));
  const files = FILES.map(async ([source, path, mode = 0o644]): Promise<TarEntry> => ({
    type: 'file',
    path,
    mode,
    content: await read(source),
  }));
  const scripts = SCRIPTS.map(async (name) => [name, String(await read(`deploy/debian/${name}`))] as const);
  const written = await writeDebianPackage({
    output,
    name: 'svc',
    version: stamp.version,
    architecture,
    fields: FIELDS,
    scripts: Object.fromEntries(await Promise.all(scripts)),
    conffiles: [CONFFILE],
    entries: [
      ...tree.entries,
      ...(await nodeEntries(node, { program: posix.join(PROGRAM_FOLDER, 'bin/node'), documents: `${DOCUMENTS}/node` })),
      ...(await Promise.all(files)),
      { type: 'file', path: `${DOCUMENTS}/sbom.cdx.json`, content: JSON.stringify(createSbom(bill)) },
    ],
    cacheFolder,
    signal,
  });
  await writeSbom(sbomFile(output), bill);
  return written;
}
