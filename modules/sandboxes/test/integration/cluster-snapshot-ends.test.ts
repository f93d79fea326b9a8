import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { describeDialects, fakeAccess, fakeClock, temporaryFolder, waitFor } from '@svc/testing';
import type { FakeAccess, FakeClock, TemporaryFolder } from '@svc/testing';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { chunksOf, FakeDriver } from '../support/fake-driver.ts';
import { FakePods } from '../support/fake-pods.ts';
import { FolderBlobs } from '../support/folder-blobs.ts';
import { passTimeUntil } from '../support/pass-time.ts';
import { startPlatform, type Answer, type CallOptions, type TestPlatform } from '../support/platform.ts';

/** A transfer may take hours: whatever takes the sandbox away must not wait for it, and nothing inside may run again. */
describeDialects<unknown>('snapshots in clusters whose sandbox ends', migrations, (database) => {
  let folder: TemporaryFolder;
  let access: FakeAccess;
  let clock: FakeClock;
  let own: FakeDriver;
  let pods: FakePods;
  let blobs: FolderBlobs;
  let platform: TestPlatform;
  /** What was done to the sandboxes in the cluster since a transfer began. */
  let calls: string[];
  /** Resolves only after each test. */
  let never: PromiseWithResolvers<void>;

  beforeEach(async () => {
    folder = await temporaryFolder();
    never = Promise.withResolvers();
    access = fakeAccess();
    clock = fakeClock();
    own = new FakeDriver();
    pods = new FakePods();
    blobs = new FolderBlobs(join(folder.path, 'blobs'));
    const clusters = new FakeClusters(pods);
    platform = await startPlatform({
      driver: own,
      node: 'a',
      access,
      clock,
      database: database(),
      clusters: clusters.on('a'),
      archives: blobs,
      publicUrl: 'https://platform.example.com',
    });
    clusters.dial(clusters.add(platform.owner.workspaceUuid, 'home'), 'a');
    await until(async () => (await call('GET', '/api/sandbox-clusters')).body['clusters'][0]?.connected === true);
    calls = [];
    const { resume, stop, remove } = pods;
    pods.resume = (id) => {
      calls.push('resume');
      return resume.call(pods, id);
    };
    pods.stop = (id) => {
      calls.push('stop');
      return stop.call(pods, id);
    };
    pods.remove = (id) => {
      calls.push('remove');
      return remove.call(pods, id);
    };
  });
  afterEach(async () => {
    never.resolve();
    await platform.dispose();
    for (const driver of [own, pods]) await driver.dispose();
    await folder.remove();
  });

  const kysely = (): Kysely<SandboxTables> => database().kysely; // migrated with every module's tables
  const until = (condition: () => boolean | Promise<boolean>): Promise<void> => passTimeUntil(clock, condition);
  const call = (method: string, path: string, options: CallOptions = {}) => platform.call(method, path, options);
  const create = async (fields: object = {}, options: CallOptions = {}, query = ''): Promise<string> => {
    const body = { image: 'busybox', cluster: 'home', ...fields };
    const made = await call('POST', `/api/sandboxes?wait_ms=10000${query}`, { ...options, body });
    expect(made).toMatchObject({ status: 201, body: { status: 'running' } });
    return String(made.body['id']);
  };
  const read = async (id: string) => (await call('GET', `/api/sandboxes/${id}`)).body;
  const take = (id: string) => call('POST', `/api/sandboxes/${id}/snapshots`, { body: {} });
  const stages = {
    'is measured': (begun: () => void) => {
      pods.beforeMeasure = () => {
        begun();
        return never.promise;
      };
    },
    'is transferred': (begun: () => void) => {
      pods.filesOf = async function* () {
        yield* chunksOf('some of the files');
        begun();
        await never.promise;
      };
    },
    'waits for the storage': (begun: () => void) => {
      blobs.beforeSeal = () => {
        begun();
        return never.promise;
      };
    },
  };
  /** Resolves at this stage of a snapshot, which does not get beyond it. */
  const taking = async (id: string, stage: keyof typeof stages = 'is transferred') => {
    const begun = Promise.withResolvers<void>();
    stages[stage](begun.resolve);
    const answer = take(id);
    await begun.promise;
    calls = [];
    return { answer };
  };
  const assertEnded = async (answer: Promise<Answer>, id: string, reason: string): Promise<void> => {
    const error = `The snapshot was not taken: ${reason}`;
    expect(await answer).toMatchObject({ status: 409, body: { code: 'SNAPSHOT_ENDED', error } });
    const { events } = (await call('GET', `/api/sandboxes/${id}/events?format=json`)).body;
    const failed = (events ?? []).find(({ type }: { type: string }) => type === 'snapshot_failed');
    if (events !== undefined) expect(failed).toMatchObject({ details: { message: error } });
  };
  const assertNothingStored = async (): Promise<void> => {
    never.resolve();
    await waitFor(async () => {
      const archives = await kysely().selectFrom('sandbox_archive').selectAll().execute();
      const snapshots = await kysely().selectFrom('sandbox_snapshot').selectAll().execute();
      return archives.length + snapshots.length === 0;
    });
    expect(await blobs.list()).toEqual([]);
  };

  it.each(Object.keys(stages) as (keyof typeof stages)[])('end with a delete while it %s', async (stage) => {
    const id = await create();
    const { answer } = await taking(id, stage);
    expect((await call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
    await waitFor(() => pods.sandboxes.size === 0);
    expect(calls[0]).toBe('remove');
    await assertEnded(answer, id, 'its sandbox was deleted');
    await assertNothingStored();
  });

  it.each(Object.keys(stages) as (keyof typeof stages)[])(
    'end while it %s when its creator loses the right to the cluster',
    async (stage) => {
      const team = access.team(platform.owner.workspaceUuid);
      const member = access.user('member@example.org');
      access.join(team, member, 'member');
      const query = `&workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
      const id = await create({}, { caller: member }, query);
      const { answer } = await taking(id, stage);
      access.leave(team, member);
      await until(() => calls.length > 0);
      expect(calls[0]).toBe('stop');
      await until(async () => (await read(id))['status'] === 'stopped');
      expect(await read(id)).toMatchObject({ state_reason: 'CLUSTER_RIGHT_REVOKED' });
      await assertEnded(answer, id, 'the creator of its sandbox may no longer run sandboxes in the cluster');
      await assertNothingStored();
    },
  );

  it('end with a stop, and can be taken of the stopped sandbox', async () => {
    const id = await create();
    const { answer } = await taking(id);
    const stopped = await call('POST', `/api/sandboxes/${id}/stop`);
    expect(stopped).toMatchObject({ status: 200, body: { status: 'stopped' } });
    expect(calls[0]).toBe('stop');
    await assertEnded(answer, id, 'its sandbox was stopped');
    await assertNothingStored();
    expect((await take(id)).status).toBe(201);
  });

  it.each([
    ['stopped', (id: string) => call('POST', `/api/sandboxes/${id}/stop`)],
    ['error', (id: string) => pods.crash(id)],
  ])('refuse a start of a sandbox in the state %s, and end with its stop', async (status, end) => {
    const id = await create();
    await end(id);
    await until(async () => (await read(id))['status'] === status);
    const { answer } = await taking(id);
    const refused = await call('POST', `/api/sandboxes/${id}/start`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'SNAPSHOT_UNDER_WAY' } });
    expect((await call('POST', `/api/sandboxes/${id}/stop`)).body).toMatchObject({ status });
    await assertEnded(answer, id, 'its sandbox was stopped');
    const started = await call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`);
    expect(started.body).toMatchObject({ status: 'running' });
  });

  it('go on for as long as they need although the sandbox is idle', async () => {
    const id = await create({ idle_timeout_seconds: 10 });
    const { answer } = await taking(id);
    await clock.advance(120_000);
    never.resolve();
    expect((await answer).status).toBe(201);
    expect(await read(id)).toMatchObject({ status: 'running' });
    await until(async () => (await read(id))['status'] === 'stopped');
    expect(await read(id)).toMatchObject({ state_reason: 'IDLE_TIMEOUT' });
  });

  it('keep no other sandbox of the cluster waiting whose time is over', async () => {
    const [paused, stopped] = [await create({ on_expiry: 'pause' }), await create({ on_expiry: 'stop' })];
    const { answer } = await taking(paused);
    for (const id of [paused, stopped])
      await call('PATCH', `/api/sandboxes/${id}`, { body: { expires_in_seconds: 1 } });
    await until(async () => (await read(stopped))['status'] === 'stopped');
    expect(await read(paused)).toMatchObject({ status: 'running', paused_at: null });
    never.resolve();
    expect((await answer).status).toBe(201);
    await until(async () => (await read(paused))['paused_at'] !== null);
  });

  it('leave a sandbox running when the platform shuts down', async () => {
    const id = await create();
    const { answer } = await taking(id);
    await platform.close();
    expect(calls).toContain('resume');
    expect(pods.sandboxes.get(id)).toMatchObject({ paused: false });
    expect((await answer.catch(() => null))?.status ?? 500).toBe(500);
    await platform.reopen();
    await assertNothingStored();
  });
});
