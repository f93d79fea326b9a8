import { migrations } from '@svc/migrations';
import type { Limits } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import type { CommandSubmission, NewCommand } from '../domain/command.ts';
import { ReportQueue } from '../domain/report-queue.ts';
import type { Report } from '../domain/telemetry.ts';
import { createStores, type Stores } from './stores.ts';
import type { ClusterTables } from './tables.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T10:05:00.000Z';
const RECEIVER = { clusterId: 'cls-1', epoch: 0, instanceId: 'instance-1', outboxId: 'outbox-1' };
const LIMITS = { notes: 5, outputBytes: 10 };
const FIRST_PAGE = { limit: 100, after: null };
const EVERYTHING = { eventType: null, namespace: null };

function command(id: string, overrides: Partial<NewCommand> = {}): NewCommand {
  return {
    id,
    clusterId: 'cls-1',
    kind: 'deploy',
    payload: { manifest: 'a' },
    createdBy: { id: 'user-1', name: 'Ada' },
    createdAt: NOW,
    timeoutMs: 1000,
    deadlineAt: LATER,
    ...overrides,
  };
}

function limits(changes: Partial<Limits> = {}): Limits {
  const workspaceUuid = changes.workspaceUuid ?? 'workspace-1';
  return { ownerId: 'owner', ownerWorkspaces: [workspaceUuid], workspace: {}, owner: {}, ...changes, workspaceUuid };
}

function submission(id: string, overrides: Partial<CommandSubmission> = {}): CommandSubmission {
  return {
    command: command(id),
    deployment: null,
    idempotency: null,
    maxOpenCommands: 100,
    limits: limits(),
    ...overrides,
  };
}

function event(messageId: string, sequence: number | null, outboxId = 'outbox-1'): Report {
  return {
    kind: 'event',
    clusterId: 'cls-1',
    messageId,
    outbox: sequence === null ? null : { id: outboxId, sequence },
    event: {
      eventType: 'pod_created',
      namespace: 'default',
      resource: `pod/${messageId}`,
      details: {},
      occurredAt: NOW,
      receivedAt: NOW,
    },
  };
}

function heartbeat(at: string, cpuUsage: number): Report {
  const reading = { status: 'healthy', cpuUsage, memoryUsage: 0.5, activePods: 10 };
  return { kind: 'heartbeat', clusterId: 'cls-1', at, reading, clockSkewSeconds: 0 };
}

async function addCluster(stores: Stores, id = 'cls-1', workspaceUuid = 'workspace-1'): Promise<void> {
  const cluster = { id, workspaceUuid, name: `name-of-${id}`, createdAt: NOW, createdBy: 'Ada' };
  await stores.clusters.insert(cluster, `hash-of-${id}`, limits({ workspaceUuid }));
}

describeDialects<ClusterTables>('the cluster stores', migrations, (database) => {
  it("enforces an owner's quota of unfinished commands across clusters, even for concurrent inserts", async () => {
    const stores = createStores(database().kysely);
    await addCluster(stores);
    await addCluster(stores, 'cls-2', 'workspace-2');
    const owner = { ownerWorkspaces: ['workspace-1', 'workspace-2'], owner: { cluster_commands: 3 } };
    const submit = (index: number) => {
      const clusterId = index % 2 === 0 ? 'cls-1' : 'cls-2';
      const workspaceUuid = index % 2 === 0 ? 'workspace-1' : 'workspace-2';
      const id = `cmd-${index}`;
      const overrides = { command: command(id, { clusterId }), limits: limits({ ...owner, workspaceUuid }) };
      return stores.commands.submit(submission(id, overrides));
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => submit(index)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(outcomes.find((each) => each.status === 'rejected')?.reason).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      status: 429,
      details: { quota: 'cluster_commands', scope: 'owner', limit: 3, current: 3 },
    });
  });

  it("enforces a workspace's cluster quota, even for concurrent inserts", async () => {
    const stores = createStores(database().kysely);
    const insert = (index: number) => {
      const cluster = {
        id: `cls-${index}`,
        workspaceUuid: 'workspace-1',
        name: `n-${index}`,
        createdAt: NOW,
        createdBy: 'Ada',
      };
      return stores.clusters.insert(cluster, `hash-${index}`, limits({ workspace: { clusters: 2 } }));
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, (_, index) => insert(index)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  it('separates clusters by workspace and keeps their names unique within one', async () => {
    const stores = createStores(database().kysely);
    await addCluster(stores);
    await addCluster(stores, 'cls-2', 'workspace-2');
    expect(await stores.clusters.find('workspace-1', 'cls-2')).toBeUndefined();
    expect(await stores.clusters.find('workspace-2', 'name-of-cls-2')).toMatchObject({ id: 'cls-2', connected: false });
    const twin = { id: 'cls-3', workspaceUuid: 'workspace-1', name: 'name-of-cls-1', createdAt: NOW, createdBy: 'Ada' };
    await expect(stores.clusters.insert(twin, 'hash-3', limits())).rejects.toMatchObject({
      code: 'CLUSTER_NAME_TAKEN',
    });
    const third = { ...twin, name: 'third' };
    await expect(stores.clusters.insert(third, 'hash-3', limits({ workspace: { clusters: 1 } }))).rejects.toMatchObject(
      { code: 'TOO_MANY_CLUSTERS' },
    );
    expect(await stores.clusters.counts('workspace-1', NOW)).toEqual({ total: 1, connected: 0, pending: 1 });
  });

  it('pages through clusters by name', async () => {
    const stores = createStores(database().kysely);
    for (const id of ['cls-a', 'cls-b', 'cls-c']) await addCluster(stores, id);
    const first = await stores.clusters.list('workspace-1', { limit: 2, after: null });
    expect(first.items.map((each) => each.id)).toEqual(['cls-a', 'cls-b']);
    const rest = await stores.clusters.list('workspace-1', { limit: 2, after: ['name-of-cls-b'] });
    expect(rest).toMatchObject({ items: [{ id: 'cls-c' }], nextCursor: null });
  });

  it('rotates tokens with and without an overlap', async () => {
    const stores = createStores(database().kysely);
    await addCluster(stores);
    await stores.clusters.rotateToken('cls-1', 'second', NOW, LATER);
    expect(await stores.clusters.findByToken('hash-of-cls-1', NOW)).toMatchObject({ id: 'cls-1' });
    expect(await stores.clusters.findByToken('hash-of-cls-1', LATER)).toBeUndefined();
    expect(await stores.clusters.expireTokens(NOW)).toEqual([]);
    expect(await stores.clusters.expireTokens(LATER)).toEqual(['hash-of-cls-1']);
    await stores.clusters.rotateToken('cls-1', 'third', LATER, null);
    expect(await stores.clusters.findByToken('second', LATER)).toBeUndefined();
    expect(await stores.clusters.findByToken('third', LATER)).toMatchObject({ id: 'cls-1' });
  });

  it("numbers connections, and only the newest can end the row's connection", async () => {
    const { clusters, connectionStore } = await withCluster();
    expect(await connectionStore.open('cls-1', 'replica-1', NOW, LATER)).toBe(1);
    expect(await connectionStore.open('cls-1', 'replica-2', NOW, LATER)).toBe(2);
    await connectionStore.close('cls-1', 1, LATER);
    expect(await clusters.counts('workspace-1', NOW)).toEqual({ total: 1, connected: 1, pending: 0 });
    expect(await clusters.counts('workspace-1', LATER)).toEqual({ total: 1, connected: 0, pending: 0 }); // expired
    await connectionStore.renewLeases('replica-2', '2026-11-21T11:00:00.000Z');
    await connectionStore.forget('replica-1', LATER);
    expect(await clusters.counts('workspace-1', LATER)).toEqual({ total: 1, connected: 1, pending: 0 });
    await connectionStore.forget('replica-2', LATER);
    expect(await clusters.find('workspace-1', 'cls-1')).toMatchObject({ connected: false, disconnectedAt: LATER });
  });

  it('replays an idempotency key, and refuses it for another request', async () => {
    const { commands } = await withCluster();
    const idempotency = { key: 'k', requestSha256: 'one' };
    const racing = ['cmd-1', 'cmd-2', 'cmd-3'].map((id) => commands.submit(submission(id, { idempotency })));
    const ids = new Set((await Promise.all(racing)).map((submitted) => submitted.commandId));
    expect(ids.size).toBe(1);
    expect((await commands.list('cls-1', FIRST_PAGE)).items).toHaveLength(1);
    const other = submission('cmd-4', { idempotency: { key: 'k', requestSha256: 'two' } });
    await expect(commands.submit(other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it('refuses commands for a removed cluster', async () => {
    const { clusters, commands } = await withCluster();
    await clusters.remove('cls-1');
    await expect(commands.submit(submission('cmd-1'))).rejects.toMatchObject({ code: 'CLUSTER_NOT_FOUND' });
  });

  it('gives commands only to the newest connection of the agent', async () => {
    const { commands, connectionStore } = await withCluster();
    await commands.submit(submission('cmd-1'));
    const epoch = await connectionStore.open('cls-1', 'replica-2', NOW, LATER);
    expect(await commands.claim('cmd-1', { ...RECEIVER, epoch: epoch - 1 }, NOW, LATER)).toBe('superseded');
    expect(await commands.claim('cmd-1', { ...RECEIVER, epoch }, NOW, LATER)).toBe('claimed');
    expect(await commands.reclaim('cmd-1', { ...RECEIVER, epoch: epoch - 1 }, NOW, LATER)).toBe(false);
    expect(await commands.reclaim('cmd-1', { ...RECEIVER, epoch }, NOW, LATER)).toBe(true);
  });

  it('lets exactly one caller claim a command, and one outcome finish it', async () => {
    const { commands } = await withCluster();
    await commands.submit(submission('cmd-1'));
    const claims = await Promise.all([1, 2, 3].map(() => commands.claim('cmd-1', RECEIVER, NOW, LATER)));
    expect(claims.toSorted()).toEqual(['claimed', 'gone', 'gone']);
    const outcome = { status: 'succeeded', result: { ok: true }, error: null } as const;
    const ends = await Promise.all([1, 2, 3].map(() => commands.finish('cls-1', 'cmd-1', outcome, LATER)));
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await commands.finish('cls-2', 'cmd-1', outcome, LATER)).toBe(false);
    expect(await commands.reclaim('cmd-1', RECEIVER, LATER, LATER)).toBe(false);
    expect(await commands.find('cls-1', 'cmd-1')).toMatchObject({
      state: 'succeeded',
      sentInstanceId: 'instance-1',
      sentOutboxId: 'outbox-1',
      result: { ok: true },
      finishedAt: LATER,
      createdBy: { name: 'Ada' },
    });
    const notes = await commands.notes('cmd-1', 0, 10);
    expect(notes.map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'state'],
      [2, 'state'],
      [3, 'result'],
    ]);
  });

  it('limits the notes and the output of a command', async () => {
    const { commands } = await withCluster();
    await commands.submit(submission('cmd-1'));
    const output = (agentSequence: number, sizeBytes: number): Promise<boolean> =>
      commands.note('cls-1', 'cmd-1', { type: 'output', data: {}, agentSequence, sizeBytes }, NOW, LIMITS);
    expect(await output(1, 6)).toBe(true);
    expect(await output(1, 1)).toBe(false);
    expect(await output(2, 6)).toBe(false);
    expect(await output(3, 4)).toBe(true);
    const progress = (agentSequence: number): Promise<boolean> =>
      commands.note('cls-1', 'cmd-1', { type: 'progress', data: {}, agentSequence, sizeBytes: 0 }, NOW, LIMITS);
    expect(await progress(1)).toBe(true);
    expect(await progress(2)).toBe(true);
    expect(await progress(3)).toBe(false); // five notes
    expect(await commands.note('cls-2', 'cmd-1', { type: 'state', data: {}, sizeBytes: 0 }, NOW, LIMITS)).toBe(false);
  });

  it('keeps open commands and the newest finished ones when pruning', async () => {
    const { commands, deployments } = await withCluster();
    const outcome = { status: 'succeeded', result: null, error: null } as const;
    for (let minute = 0; minute < 6; minute += 1) {
      const id = `cmd-${minute}`;
      const createdAt = `2026-11-21T10:0${minute}:00.000Z`;
      const deployment = { id: `dep-${minute}`, projectId: 'p', namespace: 'n', manifestSha256: 'x', dryRun: true };
      await commands.submit(submission(id, { command: command(id, { createdAt }), deployment }));
      if (minute > 0) await commands.finish('cls-1', id, outcome, createdAt);
    }
    await commands.prune('2026-11-21T10:02:00.000Z', 3);
    const kept = await commands.list('cls-1', FIRST_PAGE);
    expect(kept.items.map((each) => each.id)).toEqual(['cmd-5', 'cmd-4', 'cmd-3', 'cmd-0']);
    expect((await deployments.list('cls-1', 'p', FIRST_PAGE)).items).toHaveLength(4);
    const page = await deployments.list('cls-1', null, { limit: 1, after: ['2026-11-21T10:04:00.000Z', 'dep-4'] });
    expect(page.items.map((each) => each.id)).toEqual(['dep-3']);
    expect(page.nextCursor).not.toBeNull();
  });

  it('stores each event once and remembers the outbox position across an agent restart', async () => {
    const { telemetry, connectionStore } = await withCluster();
    const epoch = await connectionStore.open('cls-1', 'replica-1', NOW, LATER);
    const introduction = { protocol: 'svc', agentVersion: '1', kubernetesVersion: null, capabilities: [] } as const;
    await connectionStore.introduce('cls-1', epoch, {
      ...introduction,
      instanceId: 'instance-1',
      outboxId: 'outbox-1',
    });
    await telemetry.write([event('a', 1), event('a', 1), event('b', 2), event('c', null), event('c', null)]);
    await telemetry.write([event('d', 2), { ...event('x', 3), clusterId: 'cls-gone' }]);
    const { items } = await telemetry.events('cls-1', EVERYTHING, FIRST_PAGE);
    expect(items.map((each) => each.resource)).toEqual(['pod/c', 'pod/b', 'pod/a']);
    const restarted = { ...introduction, instanceId: 'instance-2', outboxId: 'outbox-1' };
    const resumed = await connectionStore.introduce('cls-1', epoch, restarted);
    expect(resumed).toEqual({ resumed: true, lastReceivedSequence: 2 });
    const emptied = { ...introduction, instanceId: 'instance-3', outboxId: 'outbox-2' };
    const fresh = await connectionStore.introduce('cls-1', epoch, emptied);
    expect(fresh).toEqual({ resumed: false, lastReceivedSequence: 0 });
    const sequences = items.map((each) => each.sequence);
    expect(await telemetry.eventsAfter('cls-1', EVERYTHING, sequences[1] ?? 0, 10)).toMatchObject([
      { resource: 'pod/c' },
    ]);
  });

  it('folds old heartbeats into ten-minute averages', async () => {
    const { telemetry, clusters } = await withCluster();
    await telemetry.write([
      heartbeat('2026-11-21T10:00:10.000Z', 0.2),
      heartbeat('2026-11-21T10:09:59.999Z', 0.4),
      heartbeat('2026-11-21T10:10:00.000Z', 0.6),
      heartbeat('2026-11-21T10:20:00.000Z', 0.8),
      heartbeat('2026-11-21T10:20:00.000Z', 0.8),
    ]);
    expect(await clusters.find('workspace-1', 'cls-1')).toMatchObject({
      heartbeat: { status: 'healthy', cpuUsage: 0.8 },
      lastSeenAt: '2026-11-21T10:20:00.000Z',
    });
    const limits = { averagesBefore: NOW, eventsBefore: NOW, eventsPerCluster: 10 };
    for (let run = 0; run < 2; run += 1) {
      await telemetry.prune({ ...limits, heartbeatsBefore: '2026-11-21T10:15:00.000Z' });
    }
    const points = await telemetry.heartbeats('cls-1', NOW, 10);
    expect(points.map(({ at, samples }) => [at, samples])).toEqual([
      ['2026-11-21T10:00:00.000Z', 2],
      ['2026-11-21T10:10:00.000Z', 1],
      ['2026-11-21T10:20:00.000Z', 1],
    ]);
    expect(points[0]?.cpuUsage).toBeCloseTo(0.3);
    expect(await telemetry.heartbeats('cls-1', NOW, 1)).toMatchObject([{ samples: 1, cpuUsage: 0.8 }]);
  });

  it('rejects only the report that cannot be stored', async () => {
    const { telemetry } = await withCluster();
    const reports = new ReportQueue(telemetry);
    const broken = structuredClone(event('broken', null));
    if (broken.kind === 'event') Object.assign(broken.event, { resource: null }); // no schema allows that
    const settled = await Promise.allSettled([
      reports.write(event('before', null)),
      reports.write(broken),
      reports.write(event('after', null)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { items } = await telemetry.events('cls-1', EVERYTHING, FIRST_PAGE);
    expect(items.map(({ resource }) => resource)).toEqual(['pod/after', 'pod/before']);
  });

  it('prunes the events of a cluster by count and age', async () => {
    const { telemetry } = await withCluster();
    await telemetry.write(['a', 'b', 'c', 'd'].map((id) => event(id, null)));
    const limits = { heartbeatsBefore: NOW, averagesBefore: NOW, eventsPerCluster: 2 };
    await telemetry.prune({ ...limits, eventsBefore: NOW });
    expect((await telemetry.events('cls-1', EVERYTHING, FIRST_PAGE)).items).toHaveLength(2);
    await telemetry.prune({ ...limits, eventsBefore: LATER });
    expect((await telemetry.events('cls-1', EVERYTHING, FIRST_PAGE)).items).toEqual([]);
  });

  it('removes a workspace with all its data', async () => {
    const { clusters, commands, telemetry } = await withCluster();
    await commands.submit(submission('cmd-1', { idempotency: { key: 'k', requestSha256: 'x' } }));
    await telemetry.write([event('a', null), heartbeat(NOW, 0.1)]);
    expect(await clusters.removeWorkspace('workspace-1')).toEqual(['cls-1']);
    expect(await commands.find('cls-1', 'cmd-1')).toBeUndefined();
    expect(await commands.waitingClusters(10)).toEqual([]);
    expect((await telemetry.events('cls-1', EVERYTHING, FIRST_PAGE)).items).toEqual([]);
  });

  async function withCluster(): Promise<Stores> {
    const stores = createStores(database().kysely);
    await addCluster(stores);
    return stores;
  }
});
