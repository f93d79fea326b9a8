import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { startReceiver } from '@svc/object-store/testing/webhook-receiver';
import { openDatabase } from '@svc/sql';
import { migrations } from '@svc/migrations';
import { describeRequiring, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { startEngine } from './engine.ts';
import { createReplicas } from './replicas.ts';

const Bucket = 'watched';
const OBJECTS = 60;
const ENVIRONMENT = { SVC_OBJECT_STORE_NOTIFICATIONS_ALLOWED_NETWORKS: '["127.0.0.0/8"]' };

interface Tables {
  schema_migration: { name: string };
}

describeRequiring(['postgres'], 'three replicas', () => {
  it('start at once on an empty database, and deliver each notification once', { timeout: 300_000 }, async () => {
    await using engine = await startEngine();
    await using replicas = await createReplicas('["object-store"]');
    const environment = { ...engine.environment, ...ENVIRONMENT };
    const names = ['a', 'b', 'c'];
    const platforms = await Promise.all(names.map((name) => replicas.start({ name, environment })));
    const database = openDatabase<Tables>({ url: replicas.databaseUrl, maxConnections: 1 });
    const applied = await database.kysely.selectFrom('schema_migration').select('name').execute();
    await database.close();
    expect(applied.map(({ name }) => name).toSorted()).toEqual(migrations.map(({ name }) => name).toSorted());

    const receiver = await startReceiver();
    const [first] = platforms;
    const base = `/api/v1/workspace/${first?.ready.workspace_uuid}/object-store`;
    const manage = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(`${first?.ready.url}${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${first?.ready.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { data: Record<string, unknown> }; // the envelope of this API
      expect(response.ok, JSON.stringify(answer)).toBe(true);
      return answer.data;
    };
    await manage('POST', '/buckets', { name: Bucket });
    const rules = [{ id: 'all', webhook: receiver.url, events: ['s3:ObjectCreated:*'] }];
    await manage('PUT', `/buckets/${Bucket}/notifications`, { rules });
    const key = await manage('POST', '/keys', {});
    const credentials = {
      accessKeyId: String(key['accessKeyId']),
      secretAccessKey: String(key['secretAccessKey']),
    };
    const clients = platforms.map(
      ({ ready: { s3_endpoint: endpoint } }) =>
        new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials }),
    );
    const keys = Array.from({ length: OBJECTS }, (_, index) => `object-${index}`);
    await Promise.all(
      keys.map(async (Key, index) => {
        await clients[index % clients.length]?.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      }),
    );
    const delivered = (): string[] => receiver.received.flatMap(({ event }) => event?.key ?? []);
    await waitFor(() => new Set(delivered()).size === OBJECTS, { timeoutMs: 120_000, description: 'all events' });
    for (const [index, client] of clients.entries()) {
      await client.send(new PutObjectCommand({ Bucket, Key: `last-${index}`, Body: 'x' }));
    }
    // Whatever were delivered twice would have come before these.
    await waitFor(() => delivered().filter((each) => each.startsWith('last-')).length === clients.length, {
      timeoutMs: 120_000,
      description: 'the last events',
    });
    expect(delivered().toSorted()).toEqual([...keys, 'last-0', 'last-1', 'last-2'].toSorted());
    for (const client of clients) client.destroy();
    await receiver.close();
  });
});
