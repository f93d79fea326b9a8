import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEngine, type Engine } from './engine.ts';
import { createReplicas, type Replicas } from './replicas.ts';
import { openStore } from './s3-store.ts';

/** A proxy that can keep the answers of a server back. */
interface HoldingProxy extends AsyncDisposable {
  readonly port: number;
  hold(): void;
  release(): void;
}

async function startHoldingProxy(target: URL): Promise<HoldingProxy> {
  let gate = Promise.resolve();
  let release = (): void => undefined;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => void gate.then(() => client.write(bytes)));
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => void gate.then(() => client.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // a TCP server has no other kind of address
    hold: () => {
      ({ promise: gate, resolve: release } = Promise.withResolvers<void>());
    },
    release: () => release(),
    [Symbol.asyncDispose]: async () => {
      release();
      server.close();
    },
  };
}

describeRequiring(['postgres'], 'a replica that is paused between the bytes of an object and its row', () => {
  let replicas: Replicas;
  let engine: Engine;
  let proxy: HoldingProxy;
  beforeEach(async () => {
    replicas = await createReplicas('object-store');
    engine = await startEngine();
    proxy = await startHoldingProxy(new URL(engine.environment['SVC_OBJECT_STORE_S3_ENDPOINT'] ?? ''));
  });
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    await replicas[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  it('acknowledges nothing that another one has swept meanwhile', { timeout: 300_000 }, async () => {
    const environment = { ...engine.environment, SVC_OBJECT_STORE_SWEEP_GRACE_SECONDS: '0' };
    const through = { ...environment, SVC_OBJECT_STORE_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}` };
    const writer = await replicas.start({ name: 'writer', environment: through });
    const store = await openStore(writer);
    const kept = randomBytes(300_000);
    await store.put('kept', kept);

    proxy.hold();
    const answer = store.put('late', randomBytes(300_000)).then(
      () => 'acknowledged',
      () => 'refused',
    );
    await waitFor(async () => (await countBlobs(engine)) === 2, { description: 'the bytes', timeoutMs: 60_000 });
    process.kill(writer.ready.pid, 'SIGSTOP');
    const sweeper = await replicas.start({ name: 'sweeper', environment }); // sweeps at its start
    await waitFor(async () => (await countBlobs(engine)) === 1, { description: 'the sweep', timeoutMs: 60_000 });
    process.kill(writer.ready.pid, 'SIGCONT');
    proxy.release();

    // The client repeats what was refused; what it is told in the end must be true.
    const told = await answer;
    const found = await store
      .of(sweeper)
      .get('late')
      .then(
        () => 'acknowledged',
        () => 'refused',
      );
    expect(found).toBe(told);
    expect((await store.of(sweeper).get('kept')).equals(kept)).toBe(true);
  });
});

/** Blobs of the replicas at the engine. */
async function countBlobs({ environment }: Engine): Promise<number> {
  const client = new S3Client({
    endpoint: environment['SVC_OBJECT_STORE_S3_ENDPOINT'] ?? '',
    region: 'auto',
    forcePathStyle: true,
    credentials: {
      accessKeyId: environment['SVC_OBJECT_STORE_S3_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['SVC_OBJECT_STORE_S3_SECRET_ACCESS_KEY'] ?? '',
    },
  });
  try {
    return (await client.send(new ListObjectsV2Command({ Bucket: 'blobs' }))).KeyCount ?? 0;
  } finally {
    client.destroy();
  }
}
