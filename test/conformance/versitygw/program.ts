import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../../kubernetes/commands.ts';
import { findProgram } from '../../kubernetes/system-packages.ts';

/** The version whose failures `known-failures.txt` lists; another one has other tests. */
export const VERSITYGW_VERSION = '1.8.0';

const MODULE = 'github.com/versity/versitygw/cmd/versitygw';

/** Path of the built program: built with Go once, kept between runs. */
export async function ensureVersitygw(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const program = join(cache, 'svc', `versitygw-${VERSITYGW_VERSION}`, 'versitygw');
  if (await isExecutable(program)) return program;
  const go = (await findProgram('go')) ?? (await findProgram('/usr/local/go/bin/go'));
  if (go === null) throw new Error('VersityGW must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(dirname(program), { recursive: true });
  const work = await mkdtemp(join(dirname(program), 'build-'));
  try {
    const environment = { ...env, GOBIN: work, CGO_ENABLED: '0' };
    await runCommand(go, ['install', '-trimpath', `${MODULE}@v${VERSITYGW_VERSION}`], { env: environment });
    await rename(join(work, 'versitygw'), program); // whole or not at all
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return program;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
