import { startTestAgent } from '@svc/agent/testing';
import { describeRequiring, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { tunnelOpened } from '../tunnel/tunnel-fixture.ts';
import { clockAhead, createReplicas } from './replicas.ts';

/** Longer than the lease of an agent's connection. */
const AHEAD_SECONDS = 90;

interface NewCluster {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

describeRequiring(['postgres', 'linux', 'command:faketime'], 'a replica whose clock is ahead', () => {
  it('takes no lease of another replica for ended: it reaches the agent there', { timeout: 300_000 }, async () => {
    await using replicas = await createReplicas('["clusters"]');
    const holder = await replicas.start({ name: 'holder' });
    const ahead = await replicas.start({ name: 'ahead', environment: clockAhead(AHEAD_SECONDS) });
    const response = await fetch(`${ahead.ready.url}/livez`);
    expect(Date.parse(response.headers.get('date') ?? '') - Date.now()).toBeGreaterThan((AHEAD_SECONDS * 1_000) / 2);
    const cluster = await apiClient(holder.ready).post<NewCluster>('/v1/clusters', { name: 'production' });
    const agent = await startTestAgent({
      platformUrl: holder.ready.url,
      environment: {
        CLUSTER_NAME: cluster.name,
        SVC_CLUSTER_ID: cluster.id,
        SVC_TOKEN: cluster.token,
        TUNNEL_ENABLED: 'true',
      },
    });
    try {
      await tunnelOpened(holder, cluster.id);
      await tunnelOpened(ahead, cluster.id);
      const seen = (): Promise<{ connected: boolean }> => apiClient(ahead.ready).get(`/v1/clusters/${cluster.id}`);
      await waitFor(async () => (await seen()).connected, { description: 'the agent to be connected' });
    } finally {
      await agent.stop();
    }
  });
});
