import { join } from 'node:path';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../kubernetes/commands.ts';
import { apiClient } from '../system/api-client.ts';
import { walkObjectStore } from '../system/object-store-walk.ts';
import { buildOwnImage, PlatformContainer } from './platform-container.ts';
import { DOCKER_REQUIREMENTS } from './requirements.ts';
import { startDocker, type Docker } from './start.ts';

const IMAGE = 'localhost/svc:of-the-test';

interface Services {
  services: { object_store: { enabled: boolean }; sandboxes: { enabled: boolean; reason?: string } };
}

describeRequiring(
  [...DOCKER_REQUIREMENTS, 'command:dpkg-deb', 'command:apt-get', 'command:aws'],
  "the platform's image in Docker",
  () => {
    let docker: Docker;
    beforeAll(async () => {
      await using folder = await temporaryFolder();
      const archive = join(folder.path, 'svc.tar');
      await buildOwnImage(archive, IMAGE);
      docker = await startDocker();
      const { stdout } = await runCommand('docker', ['-H', `unix://${docker.socket}`, 'load', '--input', archive]);
      expect(stdout).toContain(IMAGE);
    });
    afterAll(() => docker?.stop());

    it('serves S3 and the console as an ordinary user on a read-only root, and keeps its data', async () => {
      await using folder = await temporaryFolder();
      const first = await PlatformContainer.start(docker.socket, IMAGE, 'platform');
      const ready = await first.ready();
      const walk = await walkObjectStore(ready, folder.path);
      expect(walk.received.equals(walk.sent)).toBe(true);
      const page = await (await fetch(ready.url, { headers: { accept: 'text/html' } })).text();
      const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? '';
      expect((await fetch(new URL(script, ready.url))).headers.get('content-type')).toContain('javascript');
      const { services } = await apiClient(ready).get<Services>('/api/v1/platform/status');
      expect(services.object_store.enabled).toBe(true);
      expect(services.sandboxes).toMatchObject({ enabled: false, reason: expect.stringContaining('root') });
      expect(await first.execute('/usr/local/bin/node', '-p', 'process.getuid()')).toBe('65532\n');
      expect(await first.stop()).toBe(0);
      await first.remove();

      const second = await PlatformContainer.start(docker.socket, IMAGE, 'platform');
      const objects = `/api/v1/workspace/${ready.workspace_uuid}/object-store/buckets`;
      const buckets = await apiClient(await second.ready()).get<{ data: object }>(objects);
      expect(JSON.stringify(buckets.data)).toContain(walk.bucket);
      await second.remove();
    });

    it('has the command svc, which refuses to build without a checkout', async () => {
      const container = await PlatformContainer.start(docker.socket, IMAGE, 'command');
      expect(await container.execute('svc', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
      expect(await container.execute('svc', 'agent', 'version')).toMatch(/^\d+\.\d+\.\d+\n$/);
      await expect(container.execute('svc', 'package', 'image', '--output', '/tmp/a')).rejects.toThrow(/checkout/);
      await container.remove();
    });
  },
);
