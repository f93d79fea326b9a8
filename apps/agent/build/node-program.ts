import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchPinnedPackage, readPinnedPackage } from '@svc/system-packages';
import type { Architecture } from './architecture.ts';

export interface NodeProgram {
  /** Folder with `bin/node` and `LICENSE`. */
  folder: string;
  version: string;
}

export interface NodeProgramOptions {
  architecture: Architecture;
  /** Cache between builds. */
  cacheFolder: string;
  signal?: AbortSignal | undefined;
}

/** System, package, version and sha512 of each Node build; shared with the launcher. */
const PINS = join(import.meta.dirname, '../../../.node-packages');

/**
 * Node for an architecture, in the version running this build: the blob of a single executable application must be
 * written and read by the same version. It comes from the npm package that contains only the program; its hash is
 * pinned and checked before unpacking.
 */
export async function fetchNodeProgram(options: NodeProgramOptions): Promise<NodeProgram> {
  const { architecture, cacheFolder, signal } = options;
  const { node: version } = process.versions;
  const folder = join(cacheFolder, `node-${version}-linux-${architecture}`);
  const there = await access(join(folder, 'bin', 'node'), constants.R_OK).then(
    () => true,
    () => false,
  );
  if (there) return { folder, version };
  const system = architecture === 'x64' ? 'Linux-x86_64' : 'Linux-aarch64';
  const pinned = await readPinnedPackage(PINS, system);
  if (pinned?.version !== version) {
    throw new Error(
      `.node-packages pins Node ${pinned?.version ?? ''} for ${system}, and this is Node ${version}: run ./svc where no other Node is installed`,
    );
  }
  await fetchPinnedPackage(pinned, { pinsFile: PINS, folder, signal });
  return { folder, version };
}
