import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../kubernetes/commands.ts';
import { cacheFolder } from './python.ts';

/**
 * Returns a folder with the packages that a lock file pins by version and hash. Created once per lock file and cached.
 * npm rejects archives with another hash.
 */
export async function ensureNpm(locked: URL, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const source = fileURLToPath(locked);
  const pins = createHash('sha256')
    .update(await readFile(join(source, 'package-lock.json')))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(env), 'svc', `npm-${pins}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true }); // left by an interrupted run
  await mkdir(dirname(folder), { recursive: true });
  await cp(source, partial, { recursive: true });
  await runCommand('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', partial], { env });
  await rename(partial, folder);
  return folder;
}
