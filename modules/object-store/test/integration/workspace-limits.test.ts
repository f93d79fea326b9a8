import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { createWorkspaceTraffic, type QuotaLimits } from '@svc/quotas';
import { createMetrics } from '@svc/telemetry';
import { fakeClock, temporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStore, type RunningStore } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const SLOW_DOWN = { code: 'SlowDown', status: 503 };

describe('the limits of a workspace over S3', () => {
  const limits: Record<string, number> = {};
  const workspaces = [randomUUID(), randomUUID()] as const;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: RunningStore;
  let clients: S3Client[];
  beforeEach(async () => {
    for (const name of Object.keys(limits)) delete limits[name];
    folder = await temporaryFolder();
    const quotas: QuotaLimits = {
      readLimits: async (workspaceUuid) => ({
        workspaceUuid,
        ownerId: null,
        ownerWorkspaces: [],
        workspace: limits,
        owner: {},
      }),
      shareOf: (workspaceUuid) => workspaceUuid,
    };
    const { nowMs } = fakeClock(); // no tokens are refilled
    const workspaceTraffic = createWorkspaceTraffic({ limits: quotas, metrics: createMetrics(), nowMs });
    store = await startStore(folder.path, { workspaceTraffic });
    clients = [];
    for (const workspaceUuid of [workspaces[0], workspaces[0], workspaces[1]]) {
      clients.push(sdkClient(store, await store.createKey({ workspaceUuid })));
    }
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await store.close();
    await folder.remove();
  });

  it('apply across all keys of the workspace with an S3 error, and to no other workspace', async () => {
    const [one, another, neighbour] = clients as [S3Client, S3Client, S3Client];
    await one.send(new CreateBucketCommand({ Bucket: 'limited' }));
    limits['requests_per_second'] = 2;
    const list = (client: S3Client) => client.send(new ListObjectsV2Command({ Bucket: 'limited' }));
    await list(one);
    await list(another);
    for (const client of [one, another]) expect(await catchRefusal(list(client))).toEqual(SLOW_DOWN);
    expect(await catchRefusal(list(neighbour))).toMatchObject({ code: 'AccessDenied' });
    const response = await fetch(`${store.endpoint}/limited/none`); // anonymous requests have their own rate and queue
    expect(response.status).toBe(403);
  });

  it('apply to mounts of buckets, whose program asks again after a 503', async () => {
    const [one] = clients as [S3Client];
    await one.send(new CreateBucketCommand({ Bucket: 'limited' }));
    const [workspaceUuid] = workspaces;
    const bucketId = (await store.module.folders.find(workspaceUuid, 'limited')) ?? 0;
    const place = { workspaceUuid, bucketName: 'limited', bucketId, prefix: '', readOnly: false, principalId: 'x' };
    const server = createServer((request, response) => void store.module.folders.serve(place, request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    limits['requests_per_second'] = 1;
    const { port } = server.address() as AddressInfo; // of a TCP listener
    const ask = async () => (await fetch(`http://127.0.0.1:${port}/stat?path=`)).status;
    expect([await ask(), await ask()]).toEqual([200, 503]);
    server.closeAllConnections();
    server.close();
  });

  it('limit concurrent uploads, and ask the client to retry later', async () => {
    const [one] = clients as [S3Client];
    await one.send(new CreateBucketCommand({ Bucket: 'limited' }));
    limits['uploads_in_flight'] = 0;
    const refused = one.send(new PutObjectCommand({ Bucket: 'limited', Key: 'a', Body: 'text' }));
    expect(await catchRefusal(refused)).toEqual(SLOW_DOWN);
    delete limits['uploads_in_flight'];
    await one.send(new PutObjectCommand({ Bucket: 'limited', Key: 'a', Body: 'text' }));
  });
});
