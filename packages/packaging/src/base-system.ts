import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TarEntry } from '@svc/archive';
import type { NodeProgram } from './node-program.ts';

/** A user id that nothing else on a node uses; the same as in distroless images. */
export const IMAGE_USER = 65_532;
/** Where images hold Node, relative to the root. */
export const IMAGE_NODE_PATH = 'usr/local/bin/node';

/** Accounts and name resolution of an image without a distribution. */
export function accountEntries(user: string): TarEntry[] {
  return [
    {
      type: 'file',
      path: 'etc/passwd',
      content: `root:x:0:0:root:/:/none\n${user}:x:${IMAGE_USER}:${IMAGE_USER}::/:/none\n`,
    },
    { type: 'file', path: 'etc/group', content: `root:x:0:\n${user}:x:${IMAGE_USER}:\n` },
    { type: 'file', path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nhosts: files dns\n' },
    { type: 'folder', path: 'tmp', mode: 0o1777 },
  ];
}

/** Where Node and its license go, relative to the root. */
interface NodePaths {
  program: string;
  /** Folder of the license. */
  documents: string;
}

const IMAGE_PATHS: NodePaths = { program: IMAGE_NODE_PATH, documents: 'usr/share/doc/node' };

/** Node and its license, by default where images hold them. */
export async function nodeEntries(
  { folder }: NodeProgram,
  { program, documents }: NodePaths = IMAGE_PATHS,
): Promise<TarEntry[]> {
  const file = join(folder, 'bin', 'node');
  return [
    { type: 'stored', path: program, mode: 0o755, file, sizeBytes: (await stat(file)).size },
    { type: 'file', path: `${documents}/LICENSE`, content: await readFile(join(folder, 'LICENSE')) },
  ];
}
