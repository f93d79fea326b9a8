import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { waitFor } from '@svc/testing';
import { WebSocket } from 'ws';
import { apiClient } from './api-client.ts';
import type { ReadyLine } from './running-platform.ts';

/** Concurrency: enough to overlap, few enough for two cores. */
const PARALLEL = 4;
/** Connects allowed per agent token and minute; more reconnects use more clusters. */
const CONNECTS_PER_CLUSTER = 20;

async function times(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, count) }, worker));
}

/** Signs in with the password, which creates a console session each time. */
export async function signIn(ready: ReadyLine, credentials: { email: string; password: string }, count: number) {
  await times(count, async () => {
    const response = await fetch(new URL('/api/auth/login', ready.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(credentials),
    });
    if (!response.ok) throw new Error(`sign-in answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  });
}

/** Cycles through put, head, get and delete on the S3 data plane, so that nothing remains. */
export async function useObjects(ready: ReadyLine, count: number): Promise<void> {
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const api = apiClient(ready);
  const Bucket = `leak-${randomUUID()}`;
  await api.post(`${base}/buckets`, { name: Bucket });
  const { data: key } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string } }>(`${base}/keys`, {});
  const client = new S3Client({
    endpoint: ready.s3_endpoint,
    region: 'auto',
    forcePathStyle: true,
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
  });
  try {
    await times(Math.ceil(count / 4), async (index) => {
      const Key = `object-${index}`;
      // Every tenth is too large for the database, so that files are created and deleted too.
      await client.send(
        new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(index % 10 === 0 ? 300_000 : 1_000, 1) }),
      );
      await client.send(new HeadObjectCommand({ Bucket, Key }));
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      await Body?.transformToByteArray();
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
    });
  } finally {
    client.destroy();
  }
}

/** Creates sandboxes and deletes them once they run. */
export async function useSandboxes(ready: ReadyLine, count: number): Promise<string[]> {
  const api = apiClient(ready);
  const ids: string[] = [];
  await times(count, async () => {
    const { id } = await api.post<{ id: string }>('/api/containers', { image: 'busybox' });
    ids.push(id);
    await waitFor(async () => (await api.get<{ status: string }>(`/api/containers/${id}`)).status === 'running', {
      timeoutMs: 120_000,
      intervalMs: 50,
      description: `sandbox ${id} to run`,
    });
    await api.delete(`/api/containers/${id}`);
  });
  return ids;
}

/** Connects agents that send a heartbeat and then vanish silently, as in a network failure. */
export async function reconnectAgents(ready: ReadyLine, count: number): Promise<void> {
  const api = apiClient(ready);
  const clusters = await Promise.all(
    Array.from({ length: Math.ceil(count / CONNECTS_PER_CLUSTER) }, () => {
      return api.post<{ id: string; token: string }>('/v1/clusters', { name: `leak-${randomUUID()}` });
    }),
  );
  for (let index = 0; index < count; index++) {
    const cluster = clusters[index % clusters.length];
    if (cluster === undefined) throw new Error('there is no cluster');
    await connectOnce(ready, cluster);
  }
  for (const { id } of clusters) await api.delete(`/v1/clusters/${id}`);
}

async function connectOnce(ready: ReadyLine, cluster: { id: string; token: string }): Promise<void> {
  const url = `${ready.url.replace(/^http/, 'ws')}/v1/agent/connect`;
  const headers = { authorization: `Bearer ${cluster.token}`, 'x-cluster-id': cluster.id };
  const socket = new WebSocket(url, { headers });
  await once(socket, 'open');
  const payload = { status: 'healthy', metrics: { cpu_usage: 0.1, memory_usage: 0.2, active_pods: 3 } };
  const envelope = { type: 'heartbeat', id: randomUUID(), timestamp: new Date().toISOString(), payload };
  socket.send(JSON.stringify(envelope));
  const answered = once(socket, 'pong');
  socket.ping(); // its pong confirms that the previous heartbeat arrived
  await answered;
  const closed = once(socket, 'close');
  socket.terminate();
  await closed;
}
