import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { openBlobStore, type BlobStore } from '@svc/object-store';
import { loadPlatformConfig } from '@svc/platform';
import { systemClock } from '@svc/runtime';
import { archiveBlobsContract } from '@svc/sandboxes/testing/archive-blobs-contract';
import { runFolderOf } from '@svc/sandboxes/testing/run-folder';
import { openDatabase } from '@svc/sql';
import { describeRequiring, waitFor } from '@svc/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningPlatform } from '../system/running-platform.ts';
import { startEngine, type Engine } from './engine.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const NEEDS = [
  'postgres',
  'linux',
  'root',
  'cgroups',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
] as const;

/** Ends the processes of a sandbox as the end of their machine does. */
function endProcesses(id: string): void {
  const parents = ['/sys/fs/cgroup', ...readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name))];
  const groups = parents.map((parent) => join(parent, 'svc-sandboxes', id)).filter((group) => existsSync(group));
  for (const group of groups) {
    for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch (error) {
        // The end of the first process ended the others.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }
}

/** As a platform with these settings opens it. */
function openArchives({ environment }: Engine): Promise<BlobStore> {
  const { value: config } = loadPlatformConfig({ environment, flags: [] });
  return openBlobStore(config.object_store, { folder: '', random: randomBytes, clock: systemClock });
}

/** A command that writes 24 MiB, whose archive takes about a second. */
const WRITE = 'dd if=/dev/urandom of=/root/big bs=1M count=24 2>/dev/null';
/** Moments at which a node is killed while it archives that. */
const KILLED_AFTER_MS = [0, 60, 150, 300, 600, 1200];

interface Answer {
  readonly status: number;
  // Tests read fields of JSON responses; a wrong assumption fails the expectation.
  readonly body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
}

describe('the blob store of an S3 engine as storage for archives', () => {
  archiveBlobsContract(async () => {
    const engine = await startEngine();
    const blobs = await openArchives(engine);
    const dispose = async (): Promise<void> => {
      await blobs.close();
      await engine[Symbol.asyncDispose]();
    };
    return { blobs, dispose };
  });
});

describeRequiring([...NEEDS], 'snapshots and templates of two replicas on one engine', () => {
  let engine: Engine;
  let replicas: Replicas;
  let a: RunningPlatform;
  let b: RunningPlatform;
  beforeEach(async () => {
    engine = await startEngine();
    replicas = await createReplicas('sandboxes');
    a = await start('a');
    b = await start('b');
  });
  afterEach(async () => {
    const { body } = await call(b, 'GET', '');
    for (const { id } of body['containers'] ?? []) await call(b, 'DELETE', `/${id}`);
    await waitFor(() => disks('a').length + disks('b').length === 0, { timeoutMs: 60_000, description: 'no disks' });
    await replicas[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  const start = (name: string): Promise<RunningPlatform> => replicas.start({ name, environment: engine.environment });
  const request = async (platform: RunningPlatform, method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${platform.ready.url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${platform.ready.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const call = (platform: RunningPlatform, method: string, path: string, body?: unknown): Promise<Answer> =>
    request(platform, method, `/sandboxes${path}`, body);
  const disks = (name: string): string[] => {
    try {
      return readdirSync(join(replicas.dataFolder(name), 'sandboxes', 'disks'));
    } catch {
      return []; // none yet
    }
  };
  const running = async (platform: RunningPlatform, id: string): Promise<void> => {
    await expect
      .poll(async () => (await call(platform, 'GET', `/${id}`)).body, { timeout: 120_000, interval: 500 })
      .toMatchObject({ status: 'running', error: null });
  };
  const create = async (platform: RunningPlatform, body: Record<string, unknown>): Promise<string> => {
    const made = await call(platform, 'POST', '?wait_ms=30000', { network: 'none', ...body });
    const id = String(made.body['id']);
    await running(platform, id);
    return id;
  };
  const run = async (platform: RunningPlatform, id: string, command: string): Promise<unknown> => {
    const answer = await call(platform, 'POST', `/${id}/exec`, { command });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body['stdout'];
  };
  const nodeOf = async (platform: RunningPlatform): Promise<string> => {
    const { nodes } = (await request(platform, 'GET', '/v1/admin/nodes')).body;
    return nodes.find(({ this_node: isThis }: { this_node: boolean }) => isThis).id;
  };
  const take = async (platform: RunningPlatform, id: string): Promise<string> => {
    const taken = await call(platform, 'POST', `/${id}/snapshots`, {});
    expect(taken.status).toBe(201);
    return String(taken.body['id']);
  };
  const archived = async (snapshot: string): Promise<void> => {
    await expect
      .poll(async () => (await request(b, 'GET', `/snapshots/${snapshot}`)).body, { timeout: 60_000, interval: 200 })
      .toMatchObject({ archived_at: expect.any(String), archive_error: null });
  };
  /** Ids of archives in the engine, and in the database. */
  const stored = async (): Promise<{ blobs: string[]; rows: string[] }> => {
    const { environment } = engine;
    const read = (name: string): string => environment[`SVC_OBJECT_STORE_S3_${name}`] ?? '';
    const s3 = new S3Client({
      endpoint: read('ENDPOINT'),
      region: read('REGION'),
      forcePathStyle: true,
      credentials: { accessKeyId: read('ACCESS_KEY_ID'), secretAccessKey: read('SECRET_ACCESS_KEY') },
    });
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: read('BUCKET') }));
    s3.destroy();
    const keys = Contents.map(({ Key = '' }) => Key).toSorted();
    for (const key of keys) expect(key).toMatch(/^sandbox-archives\/blobs\/[0-9a-f]{32}$/);
    const database = openDatabase<unknown>({ url: replicas.databaseUrl, maxConnections: 1 });
    const { rows } = await sql<{ id: string }>`select id from sandbox_archive order by id`.execute(database.kysely);
    await database.close();
    return { blobs: keys.map((key) => key.slice(-32)), rows: rows.map(({ id }) => id) };
  };

  it('make sandboxes at the other one, and are gone from the engine when they are deleted', async () => {
    const source = await create(a, { image: 'busybox' });
    await run(a, source, 'echo kept > /root/file && rm /etc/os-release');
    const snapshot = await take(a, source);
    await archived(snapshot);
    expect((await stored()).blobs).toHaveLength(2); // its own, and that of its image
    const made = await create(b, { snapshot_id: snapshot });
    expect([disks('a'), disks('b')]).toEqual([[source], [made]]);
    expect(await run(a, made, 'cat /root/file; ls /etc/os-release; hostname')).toMatch(/^kept\n/);
    expect((await request(b, 'DELETE', `/snapshots/${snapshot}`)).status).toBe(200);
    await expect.poll(async () => (await stored()).blobs, { timeout: 30_000 }).toHaveLength(1);
    expect(await run(b, made, 'cat /root/file')).toBe('kept\n');
  });

  it('restore the sandboxes of a killed one once, and end the earlier ones when it returns', async () => {
    const id = await create(a, { image: 'busybox', name: 'kept', on_node_lost: 'restore' });
    const waits = await create(a, { image: 'busybox' });
    await run(a, id, 'echo one > /root/file');
    const snapshot = await take(a, id);
    await archived(snapshot);
    await run(a, id, 'echo two > /root/file; sleep 1000 &');
    await a.kill();
    // Both nodes are on this machine, where the processes run on: b leaves the sandbox alone until they have ended.
    await expect
      .poll(async () => (await call(b, 'GET', `/${id}`)).body, { timeout: 90_000, interval: 500 })
      .toMatchObject({ status: 'error', error: { code: 'NODE_LOST', recoverable: true } });
    for (const each of [id, waits]) endProcesses(each);
    rmSync(runFolderOf(replicas.dataFolder('a')), { recursive: true }); // in memory, as all of /run
    await expect
      .poll(async () => (await call(b, 'GET', `/${id}`)).body, { timeout: 90_000, interval: 500 })
      .toMatchObject({ status: 'running', error: null, snapshot_id: snapshot, name: 'kept' });
    expect(await run(b, id, 'cat /root/file; hostname')).toBe('one\nkept\n');
    expect((await call(b, 'GET', `/${waits}`)).body).toMatchObject({ status: 'error', error: { code: 'NODE_LOST' } });
    const { events } = (await call(b, 'GET', `/${id}/events?format=json`)).body;
    const restored = events.filter(({ type }: { type: string }) => type === 'restored');
    expect(restored).toMatchObject([{ details: { snapshot_id: snapshot, snapshot_created_at: expect.any(String) } }]);

    expect(disks('a').toSorted()).toEqual([id, waits].toSorted());
    a = await start('a');
    await waitFor(() => disks('a').length === 1, { timeoutMs: 60_000, description: 'the earlier one to be removed' });
    expect([disks('a'), disks('b')]).toEqual([[waits], [id]]);
    expect((await call(a, 'POST', `/${waits}/start?wait_ms=30000`)).status).toBeLessThan(300);
    await running(b, waits);
    expect(await run(a, id, 'cat /root/file')).toBe('one\n');
    expect((await call(a, 'GET', '')).body).toMatchObject({ count: 2 });
  });

  it('are archived after kill -9 at any moment, and leave nothing else', async () => {
    const id = await create(a, { image: 'busybox' });
    await run(a, id, WRITE);
    const snapshots: string[] = [];
    for (const delayMs of KILLED_AFTER_MS) {
      const snapshot = await take(a, id);
      snapshots.push(snapshot);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (delayMs % 300 === 0 && delayMs > 0)
        expect((await request(b, 'DELETE', `/snapshots/${snapshot}`)).status).toBe(200);
      await a.kill();
      a = await start('a');
    }
    for (const snapshot of snapshots) {
      if ((await request(b, 'GET', `/snapshots/${snapshot}`)).status === 200) await archived(snapshot);
    }
    // Unfinished uploads do not show here: an S3 engine ends them by itself, or the sweep does after a day.
    await expect
      .poll(
        async () => {
          const { blobs, rows } = await stored();
          return [blobs.length, rows.length, blobs.filter((each) => !rows.includes(each))];
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toEqual([4, 4, []]); // the image, and the snapshots that were not deleted
    for (const snapshot of snapshots) await request(b, 'DELETE', `/snapshots/${snapshot}`);
    await expect.poll(async () => (await stored()).blobs, { timeout: 30_000 }).toHaveLength(1);
  });

  it('carry templates to the other one after kill -9 of their node at any moment, and outlive it', async () => {
    // The first one builds.
    const other = await nodeOf(b);
    expect((await request(a, 'POST', `/v1/admin/nodes/${other}/drain`)).status).toBe(200);
    const steps = [{ run: `${WRITE} && sha256sum < /root/big > /root/sum && rm -r /var` }];
    const started = await request(b, 'POST', '/templates/tools/builds', { from: 'busybox', steps });
    expect(started.body).toMatchObject({ node: await nodeOf(a) });
    expect((await request(a, 'POST', `/v1/admin/nodes/${other}/undrain`)).status).toBe(200);
    const path = `/templates/tools/builds/${started.body['id']}`;
    const build = async (): Promise<unknown> => (await request(b, 'GET', path)).body;
    await expect.poll(build, { timeout: 120_000, interval: 50 }).toMatchObject({ status: 'ready', error: null });
    for (const delayMs of KILLED_AFTER_MS.filter((_, index) => index % 2 === 1)) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await a.kill();
      a = await start('a');
    }
    await expect.poll(build, { timeout: 60_000, interval: 200 }).toMatchObject({
      archived_at: expect.any(String),
      archive_error: null,
    });
    await expect
      .poll(async () => {
        const { blobs, rows } = await stored();
        return [blobs.length, blobs.filter((each) => !rows.includes(each))];
      })
      .toEqual([1, []]);
    await a.kill();
    rmSync(replicas.dataFolder('a'), { recursive: true }); // with the machine

    for (const template of ['tools', String(started.body['id'])]) {
      const id = await create(b, { template });
      expect(await run(b, id, 'sha256sum < /root/big | cmp - /root/sum && echo same; ls -d /var')).toBe('same\n');
    }
    await b.kill(); // while nothing but the image is new
    b = await start('b');
    await create(b, { template: 'tools' });
    expect((await request(b, 'DELETE', '/templates/tools')).status).toBe(200);
    const database = openDatabase<unknown>({ url: replicas.databaseUrl, maxConnections: 1 });
    await sql`update sandbox_archive set used_at = '2020-01-01T00:00:00.000Z'`.execute(database.kysely);
    await database.close();
    await b.stop();
    b = await start('b'); // it begins with a sweep
    await expect.poll(stored, { timeout: 30_000 }).toEqual({ blobs: [], rows: [] });
  });
});
