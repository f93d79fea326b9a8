import { join } from 'node:path';
import { createE2bKey } from '../../clients/e2b/e2b-environment.ts';
import { runCommand } from '../../kubernetes/commands.ts';
import { apiClient } from '../../system/api-client.ts';
import { PROJECT_ROOT, startPlatform, type ReadyLine } from '../../system/running-platform.ts';
import { WITHOUT_NETWORK } from './suite-pass.ts';

/** The template that the suites expect, under their name, and in place of the image ubuntu:22.04 that they build from. */
const BASE_PACKAGES = ['python3', 'python-is-python3', 'git', 'curl', 'ca-certificates', 'attr'];
const IMAGES = [
  { name: 'base', aliases: ['ubuntu-22'], sources: [{ kind: 'debootstrap', suite: 'host', packages: BASE_PACKAGES }] },
];

/** A platform and a key for E2B clients. */
export interface E2bPlatform extends AsyncDisposable {
  readonly ready: ReadyLine;
  readonly key: string;
  /** Command that runs a client where the platform is. */
  readonly beside: readonly string[];
}

/**
 * Starts a platform with the image `base` in a network of its own: tests that ask for the internet must not reach it. A
 * first platform, on the same data, makes the key.
 */
export async function startE2bPlatform(dataFolder: string): Promise<E2bPlatform> {
  const options = {
    dataFolder,
    environment: {
      SVC_LOG_LEVEL: 'warn',
      SVC_SANDBOXES_IMAGES: JSON.stringify(IMAGES),
      // Kept between runs.
      SVC_SANDBOXES_IMAGE_CACHE: join(PROJECT_ROOT, '.cache', 'sandbox-images'),
      SVC_SANDBOXES_IMAGE_REGISTRY: '',
      SVC_DISK_RESERVE_MB: '64',
      SVC_SANDBOXES_MAX_PER_CALLER: '200',
      SVC_SANDBOXES_MAX_CREATES_PER_MINUTE: '10000',
    },
  };
  let key: string;
  let isCached: boolean;
  {
    await using first = await startPlatform(options);
    key = await createE2bKey(first.ready);
    isCached = await hasBase(first.ready);
  }
  if (!isCached) {
    const pull = ['images', 'pull', 'base', '--data', dataFolder];
    await runCommand(join(PROJECT_ROOT, 'svc'), pull, { env: { ...process.env, ...options.environment } });
  }
  const platform = await startPlatform({ ...options, wrapper: WITHOUT_NETWORK });
  const { ready } = platform;
  const beside = ['nsenter', `--net=/proc/${ready.pid}/ns/net`, '--'];
  return { ready, key, beside, [Symbol.asyncDispose]: async () => void (await platform.stop()) };
}

async function hasBase(ready: ReadyLine): Promise<boolean> {
  const listed = await apiClient(ready).get<{ images: { name: string; cached: boolean }[] }>('/api/images?all=true');
  return listed.images.some(({ name, cached }) => name === 'base' && cached);
}
