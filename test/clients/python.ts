import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../kubernetes/commands.ts';

/** Debian's: a virtual environment of another one may lack pip. */
const SYSTEM_PYTHON = '/usr/bin/python3';

/** Where programs that are built or fetched once are kept between runs. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
}

/**
 * Python of a virtual environment with the packages that a file pins by version and hash, their own needs included: made once
 * for each set of pins, kept between runs. pip takes no archive of another hash.
 */
export async function ensurePython(requirements: URL, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const file = fileURLToPath(requirements);
  const pins = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(env), 'svc', `python-${pins}`);
  const python = join(folder, 'bin', 'python');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return python;
  await rm(folder, { recursive: true, force: true }); // what an interrupted run left
  await mkdir(dirname(folder), { recursive: true });
  await runCommand(SYSTEM_PYTHON, ['-m', 'venv', folder]);
  const flags = ['--quiet', '--disable-pip-version-check', '--require-hashes', '--no-deps'];
  const install = ['-m', 'pip', 'install', ...flags, '--requirement', file];
  await runCommand(python, install, { env });
  await writeFile(complete, '');
  return python;
}
