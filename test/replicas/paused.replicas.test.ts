import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestAgent } from '@svc/agent/testing';
import { openDatabase, type Database } from '@svc/sql';
import { describeRequiring, startCuttableProxy, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import type { RunningPlatform } from '../system/running-platform.ts';
import { createReplicas } from './replicas.ts';

interface NewCluster {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const UPGRADES = [
  {
    path: '/v1/agent/connect',
    headers: `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}`,
  },
  { path: '/v1/agent/tunnel', headers: 'Upgrade: svc-mux/1' },
] as const;

/** Sends a handshake and leaves, like an agent that gives up on a replica that does not answer. */
async function giveUp(platform: RunningPlatform, cluster: NewCluster, upgrade: (typeof UPGRADES)[number]) {
  const { hostname, port } = new URL(platform.ready.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `GET ${upgrade.path} HTTP/1.1`,
    `Host: ${hostname}`,
    'Connection: Upgrade',
    upgrade.headers,
    `Authorization: Bearer ${cluster.token}`,
    `X-Cluster-ID: ${cluster.id}`,
  ];
  await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n`, () => resolve()));
  socket.destroy();
}

/** What the tests read. */
interface Tables {
  cluster: { connection_epoch: number; replica_id: string | null };
  cluster_tunnel: { epoch: number; replica_id: string | null };
}

async function holdersIn({ kysely }: Database<Tables>) {
  return {
    connection: await kysely.selectFrom('cluster').select(['replica_id', 'connection_epoch']).executeTakeFirstOrThrow(),
    tunnel: await kysely.selectFrom('cluster_tunnel').select(['replica_id', 'epoch']).executeTakeFirst(),
  };
}

function startAgent(platformUrl: string, cluster: NewCluster) {
  return startTestAgent({
    platformUrl,
    environment: {
      CLUSTER_NAME: cluster.name,
      SVC_CLUSTER_ID: cluster.id,
      SVC_TOKEN: cluster.token,
      TUNNEL_ENABLED: 'true',
    },
  });
}

/** Returns the holders of the agent's channel and tunnel, once it has both at a replica other than `paused`. */
function bothHeld(database: Database<Tables>, paused: string | null) {
  return waitFor(
    async () => {
      const holders = await holdersIn(database);
      const [channel, tunnel] = [holders.connection.replica_id, holders.tunnel?.replica_id ?? null];
      const isHeld = channel !== null && tunnel !== null && channel !== paused && tunnel !== paused;
      return isHeld ? holders : null;
    },
    { timeoutMs: 120_000, description: 'channel and tunnel of the agent' },
  );
}

describeRequiring(['postgres'], 'a replica that was paused', () => {
  it('does not take the agent from the replica that serves it', { timeout: 300_000 }, async () => {
    await using replicas = await createReplicas('["clusters"]');
    const paused = await replicas.start({ name: 'first' });
    const live = await replicas.start({ name: 'second' });
    const database = openDatabase<Tables>({ url: replicas.databaseUrl, maxConnections: 1 });
    const cluster = await apiClient(live.ready).post<NewCluster>('/v1/clusters', { name: 'production' });
    const agent = await startAgent(live.ready.url, cluster);
    try {
      const before = await bothHeld(database, null);
      process.kill(paused.ready.pid, 'SIGSTOP');
      for (const upgrade of UPGRADES) await giveUp(paused, cluster, upgrade);
      process.kill(paused.ready.pid, 'SIGCONT');
      await waitFor(() => UPGRADES.every(({ path }) => isLogged(paused, path)), {
        timeoutMs: 60_000,
        description: 'the end of both handshakes',
      });
      expect(await holdersIn(database)).toEqual(before);
    } finally {
      await agent.stop();
      await database.close();
    }
  });

  it('loses its agent to another replica', { timeout: 300_000 }, async () => {
    await using replicas = await createReplicas('["clusters"]');
    const paused = await replicas.start({ name: 'first' });
    const live = await replicas.start({ name: 'second' });
    const database = openDatabase<Tables>({ url: replicas.databaseUrl, maxConnections: 1 });
    const cluster = await apiClient(live.ready).post<NewCluster>('/v1/clusters', { name: 'production' });
    let { port } = new URL(paused.ready.url);
    await using balancer = await startCuttableProxy({
      host: '127.0.0.1',
      get port() {
        return Number(port);
      },
    });
    const agent = await startAgent(`http://127.0.0.1:${balancer.port}`, cluster);
    try {
      const before = await bothHeld(database, null);
      port = new URL(live.ready.url).port; // as a balancer with health checks does
      process.kill(paused.ready.pid, 'SIGSTOP');
      const after = await bothHeld(database, before.connection.replica_id);
      expect(after.connection.replica_id).toBe(after.tunnel?.replica_id);
    } finally {
      process.kill(paused.ready.pid, 'SIGCONT');
      await agent.stop();
      await database.close();
    }
  });
});

/** The line that the platform logs when it is done with an upgrade. */
function isLogged(platform: RunningPlatform, path: string): boolean {
  return platform
    .log()
    .split('\n')
    .some((line) => line.includes('"upgrade"') && line.includes(path));
}
