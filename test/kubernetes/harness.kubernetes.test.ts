import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { kubernetesRequirement, startKubernetes } from './index.ts';

const given = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') !== '';
const reason = given ? 'a cluster was given from outside' : await kubernetesRequirement(true);
const title = 'a separate API server';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  it('returns the state of a new cluster, and leaves no process or file behind', async () => {
    await using folder = await temporaryFolder();
    const dir = join(folder.path, 'cluster');
    const kubernetes = await startKubernetes({ dir, apiOnly: true });
    expect(await kubernetes.kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/default');
    await kubernetes.stop();
    await kubernetes.stop();
    expect(existsSync(dir)).toBe(false);
    await expect(kubernetes.kubectl('get', '--raw', '/readyz')).rejects.toThrow();
  });
});
