import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../kubernetes/commands.ts';

/** Debian's Python, since another's virtual environment may lack pip. */
const SYSTEM_PYTHON = '/usr/bin/python3';

/** Cache folder for built or downloaded programs. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
}

/**
 * Returns the Python of a virtual environment with the packages pinned by version and hash in a file, including
 * dependencies. Created once per set of pins and cached. pip rejects archives with another hash.
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
  await rm(folder, { recursive: true, force: true }); // left by an interrupted run
  await mkdir(dirname(folder), { recursive: true });
  await runCommand(SYSTEM_PYTHON, ['-m', 'venv', folder]);
  // Most modules are never imported, so none is compiled ahead.
  const flags = ['--quiet', '--disable-pip-version-check', '--require-hashes', '--no-deps', '--no-compile'];
  const install = ['-m', 'pip', 'install', ...flags, '--requirement', file];
  await runCommand(python, install, { env });
  await writeFile(complete, '');
  return python;
}
