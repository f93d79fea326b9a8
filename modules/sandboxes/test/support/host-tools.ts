import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '@svc/testing';

/**
 * A tar archive of programs of this machine with their shared libraries, for a sandbox whose image is of the same
 * distribution. Its root is `/`.
 */
export async function packHostTools(programs: Readonly<Record<string, string>>): Promise<Buffer> {
  const folder = await temporaryFolder('svc-tools-');
  try {
    for (const [name, path] of Object.entries(programs)) {
      copy(folder.path, realpathSync(path), `/usr/local/bin/${name}`);
      const libraries = execFileSync('ldd', [path], { encoding: 'utf8' });
      for (const [, library = ''] of libraries.matchAll(/=> (\/\S+)/g)) {
        copy(folder.path, realpathSync(library), `/usr/local/lib/tools/${library.slice(library.lastIndexOf('/') + 1)}`);
      }
    }
    return execFileSync('tar', ['-C', folder.path, '-cf', '-', 'usr'], { maxBuffer: 512 * 1024 * 1024 });
  } finally {
    await folder.remove();
  }
}

function copy(root: string, from: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(from, target, { dereference: true });
}
