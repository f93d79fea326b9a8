import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findGo, GO_BUILD_FLAGS, GO_ENVIRONMENT } from '@svc/testing';
import { runCommand } from '../../kubernetes/commands.ts';

/** The version that `known-failures.txt` refers to; others have different tests. */
export const VERSITYGW_VERSION = '1.8.0';

const MODULE = 'github.com/versity/versitygw/cmd/versitygw';

/** Returns the path of the program, built with Go once and cached. */
export async function ensureVersitygw(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const program = join(cache, 'svc', `versitygw-${VERSITYGW_VERSION}`, 'versitygw');
  if (await isExecutable(program)) return program;
  const go = findGo();
  if (go === null) throw new Error('VersityGW must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(dirname(program), { recursive: true });
  const work = await mkdtemp(join(dirname(program), 'build-'));
  try {
    const environment = { ...env, ...GO_ENVIRONMENT, GOBIN: work };
    await runCommand(go, ['install', ...GO_BUILD_FLAGS, '-ldflags=-s -w', `${MODULE}@v${VERSITYGW_VERSION}`], {
      env: environment,
    });
    await rename(join(work, 'versitygw'), program); // atomic
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
