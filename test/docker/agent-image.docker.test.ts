import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildImage } from '@svc/agent/build';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { DOCKER_REQUIREMENTS } from './requirements.ts';
import { startDocker } from './start.ts';

const run = promisify(execFile);
const NAME = 'localhost/svc-agent:of-the-test';

describeRequiring(
  [...DOCKER_REQUIREMENTS, 'command:dpkg-deb', 'command:apt-get'],
  "the agent's image in Docker",
  () => {
    it('loads with docker load, runs as the contract specifies, and is configured by its environment', async () => {
      await using folder = await temporaryFolder();
      const output = join(folder.path, 'image.tar');
      const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
      const cacheFolder = join(PROJECT_ROOT, '.cache');
      await buildImage({ root: PROJECT_ROOT, architecture, output, name: NAME, cacheFolder });
      const docker = await startDocker();
      try {
        const call = async (...args: string[]): Promise<string> =>
          (await run('docker', ['--host', `unix://${docker.socket}`, ...args])).stdout;
        expect(await call('load', '--input', output)).toContain(NAME);
        expect(await call('image', 'inspect', NAME, '--format', '{{.Config.User}}')).toBe('65532:65532\n');
        const settings = ['CLUSTER_NAME=home', 'SVC_API_URL=https://platform.example', 'SVC_TOKEN=a'];
        const limits = ['--rm', '--network', 'none', '--read-only', '--cap-drop', 'ALL'];
        const environment = settings.flatMap((setting) => ['--env', setting]);
        const valid = await call('run', ...limits, ...environment, NAME, 'validate');
        expect(valid).toContain('✓ Configuration is valid');
        await expect(call('run', ...limits, NAME, 'validate')).rejects.toThrow();
      } finally {
        await docker.stop();
      }
    });
  },
);
