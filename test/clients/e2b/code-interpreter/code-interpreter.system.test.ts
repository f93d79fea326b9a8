import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../../kubernetes/commands.ts';
import { apiClient } from '../../../system/api-client.ts';
import { PROJECT_ROOT, startPlatform, type ReadyLine, type RunningPlatform } from '../../../system/running-platform.ts';
import { ensureNpm } from '../../npm.ts';
import { ensurePython } from '../../python.ts';
import { createE2bKey, e2bEnvironment } from '../e2b-environment.ts';

const JAVASCRIPT = fileURLToPath(new URL('interpret.mjs', import.meta.url));
const PYTHON = fileURLToPath(new URL('interpret.py', import.meta.url));
/** The image is made of Debian packages at its first use on a machine, and stays in the cache. */
const PREPARE_TIMEOUT_MS = 10 * 60_000;

describeRequiring(['root', 'linux', 'python-venv'], 'clients of the E2B code interpreter', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const dataFolder = join(folder.path, 'data');
    const cache = { SVC_SANDBOXES_IMAGE_CACHE: join(PROJECT_ROOT, '.cache', 'sandbox-images') };
    platform = await startPlatform({ dataFolder, environment: { ...cache, SVC_SANDBOXES_IMAGE_REGISTRY: '' } });
    const { PATH, HOME } = process.env;
    env = { PATH, HOME, ...e2bEnvironment(platform.ready, await createE2bKey(platform.ready)) };
    const { url, token } = platform.ready;
    const command = { cwd: PROJECT_ROOT, env: { ...process.env, ...cache, SVC_URL: url, SVC_TOKEN: token } };
    const svc = join(PROJECT_ROOT, 'svc');
    // As docs/e2b.md says.
    if (!(await isPrepared(platform.ready))) {
      await runCommand(svc, ['images', 'pull', 'jupyter', '--data', dataFolder], command);
    }
    await runCommand(svc, ['template', 'build', 'code-interpreter-v1', 'deploy/code-interpreter'], command);
  }, PREPARE_TIMEOUT_MS);
  afterAll(async () => {
    await platform.stop();
    await folder.remove();
  });

  it('run code from npm', async () => {
    const packages = await ensureNpm(new URL('npm/', import.meta.url));
    const { stdout } = await runCommand(process.execPath, [JAVASCRIPT, packages], { env });
    expect(stdout.match(/^kills$/gm)).toHaveLength(2);
  });

  it('run code from PyPI, sync and async', async () => {
    const python = await ensurePython(new URL('pypi/e2b-code-interpreter-2.11.5.txt', import.meta.url));
    const { stdout } = await runCommand(python, [PYTHON], { env });
    expect(stdout.match(/^kills$/gm)).toHaveLength(2);
  });
});

async function isPrepared(ready: ReadyLine): Promise<boolean> {
  const listed = await apiClient(ready).get<{ images: { name: string; cached: boolean }[] }>('/api/images?all=true');
  return listed.images.some(({ name, cached }) => name === 'jupyter' && cached);
}
