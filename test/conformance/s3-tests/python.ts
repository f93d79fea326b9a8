import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../kubernetes/commands.ts';
import { cacheFolder } from './checkout.ts';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** Python of a virtual environment with the pinned packages: made once for each set of pins, kept between runs. */
export async function ensurePython(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const pins = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder(env), 'svc', `s3-tests-python-${pins}`);
  const python = join(folder, 'bin', 'python');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return python;
  await rm(folder, { recursive: true, force: true }); // what an interrupted run left
  await mkdir(dirname(folder), { recursive: true });
  await runCommand('python3', ['-m', 'venv', folder]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS];
  await runCommand(python, install, { env });
  await writeFile(complete, '');
  return python;
}
