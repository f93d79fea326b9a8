import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findGo, freePort, waitFor } from '@svc/testing';
import { runCommand } from '@svc/test/commands';
import { runProcess } from './run-process.ts';
import { ask } from '../load/run-load.ts';
import { Signer } from '../load/signature.ts';
import type { Engine } from './engine.ts';

const VERSION = 'v0.0.0-20260212201848-7aac2a2c5b7c';

/** One process on one folder. By default it syncs the data of every PUT (fdatasync), but no folder. */
export async function startMinio(dataFolder: string): Promise<Engine> {
  const program = await ensureMinio(process.env);
  const port = await freePort();
  const accessKeyId = randomBytes(10).toString('hex');
  const secretAccessKey = randomBytes(20).toString('hex');
  await mkdir(dataFolder, { recursive: true });
  const server = runProcess(program, ['server', '--quiet', '--address', `127.0.0.1:${port}`, dataFolder], {
    MINIO_ROOT_USER: accessKeyId,
    MINIO_ROOT_PASSWORD: secretAccessKey,
    MINIO_BROWSER: 'off',
    MINIO_UPDATE: 'off',
  });
  const target = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', accessKeyId, secretAccessKey };
  try {
    // Its own health check reports ready before it accepts requests.
    const listsBuckets = (): Promise<unknown> =>
      ask(target.endpoint, new Signer(target).head({ method: 'GET', path: '/' }));
    await waitFor(async () => (await listsBuckets()) !== '', { description: 'MinIO' });
  } catch (error) {
    await server.stop();
    throw new Error(`MinIO did not start: ${server.output()}`, { cause: error });
  }
  return { name: 'MinIO', ...target, stop: server.stop };
}

/** Returns the path of the program, built with Go once and cached outside of the checkout. */
async function ensureMinio(env: NodeJS.ProcessEnv): Promise<string> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const program = join(cache, 'svc', `minio-${VERSION}`, 'minio');
  if (existsSync(program)) return program;
  const go = findGo();
  if (go === null) throw new Error('MinIO must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(dirname(program), { recursive: true });
  const work = await mkdtemp(join(dirname(program), 'build-'));
  try {
    const environment = { ...env, GOBIN: work, CGO_ENABLED: '0' };
    await runCommand(go, ['install', '-trimpath', `github.com/minio/minio@${VERSION}`], { env: environment });
    await rename(join(work, 'minio'), program); // atomic
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return program;
}
