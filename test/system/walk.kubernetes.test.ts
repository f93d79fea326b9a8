import { describeRequiring, skippedTitle, temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { kubernetesRequirement, startKubernetes } from '../kubernetes/index.ts';
import { walkClusters } from './cluster-walk.ts';
import { walkObjectStore } from './object-store-walk.ts';
import { startPlatform } from './running-platform.ts';
import { walkSandboxes } from './sandbox-walk.ts';

const reason = await kubernetesRequirement();
const title = 'svc up and its ready line';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  describeRequiring(['root', 'command:aws', 'python-websockets'], 'with ordinary clients', () => {
    it('covers the object store, a sandbox and a real Kubernetes', async () => {
      await using folder = await temporaryFolder();
      const kubernetes = await startKubernetes();
      try {
        await using platform = await startPlatform({ dataFolder: `${folder.path}/data` });
        const { ready } = platform;

        const objects = await walkObjectStore(ready, folder.path);
        expect(objects.received.equals(objects.sent)).toBe(true);

        const sandbox = await walkSandboxes(ready);
        expect(sandbox).toMatchObject({ before: '24 80', after: '40 120', exitCode: 7 });

        const { status } = await walkClusters(ready, kubernetes.kubeconfig, folder.path);
        expect(status).toBe('succeeded');
        const seen = await kubernetes.kubectl('get', 'deployment', 'walk', '-o', 'jsonpath={.status.readyReplicas}');
        expect(seen).toBe('1');
        expect(await platform.stop()).toBe(0);
      } finally {
        await kubernetes.stop();
      }
    });
  });
});
