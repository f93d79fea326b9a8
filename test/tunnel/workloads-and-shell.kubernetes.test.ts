import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { kubernetesRequirement } from '../kubernetes/index.ts';
import { startKubectl, type KubectlFixture } from './kubectl-fixture.ts';

const reason = await kubernetesRequirement();
const TITLE = 'a real cluster through the tunnel';
const SECRET = 'secret-of-the-environment';

const DEPLOYMENT = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'listed', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'listed' } },
    template: {
      metadata: { labels: { app: 'listed' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: 'localhost/busybox:1',
            imagePullPolicy: 'IfNotPresent',
            command: ['sleep', '86400'],
            env: [{ name: 'PASSWORD', value: SECRET }],
          },
        ],
      },
    },
  },
});

interface PodView {
  name: string;
  state: string;
  node: string;
  owner: { kind: string; name: string };
}

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let fixture: KubectlFixture;
  beforeAll(async () => {
    fixture = await startKubectl();
    await fixture.kubectl(['apply', '-f', '-'], DEPLOYMENT);
    await fixture.kubectl(['rollout', 'status', 'deployment/listed', '--timeout=180s']);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  const get = <Body>(path: string): Promise<Body> => fixture.tunnels.api.get<Body>(`/v1/clusters/production${path}`);

  it('lists nodes, workloads and pods, without environment variables', async () => {
    const { nodes } = await get<{ nodes: unknown[] }>('/nodes');
    expect(nodes).toMatchObject([{ state: 'ready', schedulable: true, kubelet_version: expect.any(String) as string }]);
    const { workloads } = await get<{ workloads: { selector: string }[] }>('/workloads?namespace=default&name=listed');
    expect(workloads).toMatchObject([
      { kind: 'Deployment', name: 'listed', state: 'available', ready: 1, desired: 1, images: ['localhost/busybox:1'] },
    ]);
    const selector = encodeURIComponent(workloads[0]?.selector ?? '');
    const { pods } = await get<{ pods: PodView[] }>(`/pods?namespace=default&label_selector=${selector}`);
    expect(pods).toMatchObject([{ state: 'Running', ready: true, owner: { kind: 'Deployment', name: 'listed' } }]);
    expect(JSON.stringify([pods, workloads])).not.toContain(SECRET);
    const all = await get<{ pods: PodView[]; next_cursor: string | null }>('/pods?page_size=1');
    expect(all.pods).toHaveLength(1);
  });

  it('opens a shell on a terminal, resizes it and returns its exit code', async () => {
    const { pods } = await get<{ pods: PodView[] }>('/pods?namespace=default&name=listed');
    const { ready } = fixture.tunnels.platform;
    const url = new URL(
      `/v1/clusters/production/shell?namespace=default&pod=${pods[0]?.name}&cols=91&rows=31`,
      ready.url,
    );
    url.protocol = 'ws:';
    const socket = new WebSocket(url, { headers: fixture.tunnels.authorization });
    let output = '';
    socket.on('message', (data: Buffer, isBinary) => {
      output += isBinary ? data.subarray(1).toString() : data.toString();
    });
    const closed = new Promise<string>((resolve) => {
      socket.once('close', (code, why) => resolve(`${code} ${why.toString()}`));
    });
    const type = (text: string): void => socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]));
    await waitFor(() => output.includes('"ready"'));
    type('tty; stty size\r');
    await waitFor(() => output.includes('/dev/pts/') && output.includes('31 91'), { description: () => output });
    socket.send(JSON.stringify({ type: 'resize', cols: 92, rows: 32 }));
    await waitFor(
      () => {
        type('stty size\r');
        return output.includes('32 92');
      },
      { intervalMs: 200, description: () => output },
    );
    type('exit 7\r');
    expect(await closed).toBe('1000 {"exit_code":7}');
  });
});
