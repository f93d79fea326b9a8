import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../kubernetes/commands.ts';
import { startPlatform, type RunningPlatform } from '../../system/running-platform.ts';
import { ensureNpm } from '../npm.ts';
import { ensurePython } from '../python.ts';
import { createE2bKey, e2bEnvironment } from './e2b-environment.ts';

/** From the oldest that a URL can point elsewhere to the newest. */
const NPM_VERSIONS = ['2.10.4', '2.30.5', '2.45.0', '2.51.0'];
const PYPI_VERSIONS = ['2.10.2', '2.30.0', '2.45.1', '2.63.0'];

/** Those whose clients have the files of volumes. */
const NPM_VOLUME_VERSIONS = ['2.30.5', '2.45.0', '2.51.0'];
const PYPI_VOLUME_VERSIONS = ['2.30.0', '2.45.1', '2.63.0'];

const JAVASCRIPT = fileURLToPath(new URL('smoke.mjs', import.meta.url));
const PYTHON = fileURLToPath(new URL('smoke.py', import.meta.url));
const VOLUME_JAVASCRIPT = fileURLToPath(new URL('volume.mjs', import.meta.url));
const OPENAI_AGENTS = fileURLToPath(new URL('openai-agents.py', import.meta.url));
const VOLUME_PYTHON = fileURLToPath(new URL('volume.py', import.meta.url));

describeRequiring(['root', 'linux', 'python-venv'], 'published versions of the E2B SDKs', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = await temporaryFolder();
    platform = await startPlatform({
      dataFolder: join(folder.path, 'data'),
      environment: { SVC_SANDBOXES_IMAGE_REGISTRY: '' },
    });
    const { PATH, HOME } = process.env;
    env = { PATH, HOME, ...e2bEnvironment(platform.ready, await createE2bKey(platform.ready)) };
  });
  afterAll(async () => {
    await platform.stop();
    await folder.remove();
  });

  it.each(NPM_VERSIONS)('use sandboxes: npm %s', async (version) => {
    const packages = await ensureNpm(new URL('npm/', import.meta.url));
    const { stdout } = await runCommand(process.execPath, [JAVASCRIPT, packages, version], { env });
    expect(stdout).toMatch(/^kills$/m);
  });

  it.each(PYPI_VERSIONS)('use sandboxes: PyPI %s, sync and async', async (version) => {
    const python = await ensurePython(new URL(`pypi/e2b-${version}.txt`, import.meta.url));
    const { stdout } = await runCommand(python, [PYTHON], { env });
    expect(stdout.match(/^kills$/gm)).toHaveLength(2);
  });

  it.each(NPM_VOLUME_VERSIONS)('use files of volumes: npm %s', async (version) => {
    const packages = await ensureNpm(new URL('npm/', import.meta.url));
    const { stdout } = await runCommand(process.execPath, [VOLUME_JAVASCRIPT, packages, version], { env });
    expect(stdout).toMatch(/^destroys$/m);
  });

  it.each(PYPI_VOLUME_VERSIONS)('use files of volumes: PyPI %s, sync and async', async (version) => {
    const python = await ensurePython(new URL(`pypi/e2b-${version}.txt`, import.meta.url));
    const { stdout } = await runCommand(python, [VOLUME_PYTHON], { env });
    expect(stdout.match(/^destroys$/gm)).toHaveLength(2);
  });

  it('serve the E2B provider of the OpenAI Agents SDK', async () => {
    const python = await ensurePython(new URL('pypi/openai-agents-0.24.0.txt', import.meta.url));
    const { stdout } = await runCommand(python, [OPENAI_AGENTS], { env });
    expect(stdout).toBe('works\nlives\nlives\n');
  });
});
