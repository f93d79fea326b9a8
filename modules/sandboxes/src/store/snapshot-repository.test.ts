import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock } from '@svc/testing';
import type { Limits } from '@svc/quotas';
import { expect, it } from 'vitest';
import type { Admission } from '../domain/admission.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { createEventLog } from './event-log.ts';
import { createMetricStore } from './metric-store.ts';
import { createSnapshotRepository } from './snapshot-repository.ts';
import type { SandboxTables } from './tables.ts';

const AT = '2026-01-01T00:00:00.000Z';

function snapshot(id: string, changes: Partial<Snapshot> = {}): Snapshot {
  return {
    id,
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    driver: 'd',
    name: 'name',
    sandboxId: 'sbx_a',
    image: 'busybox',
    diskMb: 64,
    template: null,
    egressRules: [],
    archivedAt: null,
    archiveError: null,
    sizeBytes: 0,
    state: 'making',
    createdAt: AT,
    ...changes,
  };
}

function admission(callerLimit: number | null, workspace: Limits['workspace'] = {}): Admission {
  const limits = { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace, owner: {} };
  return { accountableId: 'o', callerLimit, limits };
}

describeDialects<SandboxTables>('SnapshotRepository', migrations, (database) => {
  const repository = () => createSnapshotRepository(database().kysely, { clock: fakeClock(AT) });

  it("enforces the caller's limit for concurrent inserts, and frees the slot on removal", async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const refusals = await Promise.all(ids.map((id) => repository().insert(snapshot(id), admission(2), true)));
    expect(refusals.filter((each) => each === null)).toHaveLength(2);
    expect(refusals).toContainEqual({ by: 'caller', current: 2 });
    const [made] = await repository().ofNode('n', ['making']);
    expect(await repository().remove(made?.id ?? '')).toBe(true);
    expect(await repository().remove(made?.id ?? '')).toBe(false);
    expect(await repository().insert(snapshot('f'), admission(2), true)).toBeNull();
  });

  it("enforces a workspace's quotas on snapshot count and disk space", async () => {
    const few = admission(null, { snapshots: 2 });
    const refusals = await Promise.all(['a', 'b', 'c', 'd'].map((id) => repository().insert(snapshot(id), few, true)));
    expect(refusals.filter((each) => each === null)).toHaveLength(2);
    expect(await repository().insert(snapshot('fork'), few, false)).toBeNull();
    const small = admission(null, { sandbox_disk: 200 });
    // Three are in progress and may reach 64 MiB each.
    expect(await repository().insert(snapshot('e'), small, true)).toMatchObject({
      breach: { quota: { name: 'sandbox_disk' }, used: 192, wanted: 64 },
    });
    for (const { id } of await repository().ofNode('n', ['making'])) await repository().finish(id, 'ready', 2 ** 20);
    expect(await repository().insert(snapshot('e'), small, true)).toBeNull();
  });

  it('lists ready snapshots, records their events, and hides those of forks', async () => {
    for (const id of ['a', 'b']) await repository().insert(snapshot(id), admission(null), true);
    expect(await repository().find('a')).toBeNull();
    expect(await repository().finish('a', 'ready', 5_000_000_000)).toMatchObject({ sizeBytes: 5_000_000_000 });
    expect(await repository().finish('a', 'ready', 1)).toBeNull();
    await repository().finish('b', 'fork', 1);
    const page = await repository().list('w', { sandboxId: null, pageSize: 5, cursor: null });
    expect(page).toMatchObject({ snapshots: [{ id: 'a', state: 'ready' }], nextCursor: null });
    const log = createEventLog(database().kysely);
    const events = await log.after({ workspaceUuid: 'w', sandboxId: null }, 0, 5);
    expect(events).toMatchObject([{ type: 'snapshot_created', details: { snapshot_id: 'a' } }]);
    await repository().remove('a');
    await repository().purge('a');
    expect(await repository().ofNode('n', ['ready', 'removed', 'fork'])).toMatchObject([{ id: 'b' }]);
    expect(await repository().awaitedBy('a')).toEqual([]);
  });

  it('skips samples of deleted sandboxes', async () => {
    const store = createMetricStore(database().kysely);
    const sample = {
      sandboxId: 'sbx_gone',
      at: AT,
      cpuCores: 0.5,
      memoryBytes: 5_000_000_000,
      pids: 1,
      diskBytes: null,
    };
    await store.append([sample]);
    expect(await store.since('sbx_gone', '2025', 5)).toEqual([]);
    await store.prune(AT);
  });
});
