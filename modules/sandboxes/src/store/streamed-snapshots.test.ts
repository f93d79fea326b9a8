import { migrations } from '@svc/migrations';
import type { Limits } from '@svc/quotas';
import { describeDialects, fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { FinishedState, Snapshot } from '../domain/snapshots/snapshot.ts';
import { createEventLog } from './event-log.ts';
import { createSnapshotRepository } from './snapshot-repository.ts';
import { createStreamedSnapshotRepository } from './streamed-snapshots.ts';
import type { SandboxTables } from './tables.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LIMITS: Limits = { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace: {}, owner: {} };

describeDialects<SandboxTables>('StreamedSnapshotRepository', migrations, (database) => {
  const clock = fakeClock(AT);
  const snapshots = () => createSnapshotRepository(database().kysely, { clock });
  const streamed = () => createStreamedSnapshotRepository(database(), clock);
  const begin = async (id: string, changes: Partial<Snapshot> = {}) => {
    const snapshot: Snapshot = {
      id,
      workspaceUuid: 'w',
      ownerId: 'o',
      node: 'n',
      driver: 'cluster:c',
      name: id,
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
    await snapshots().insert(snapshot, { accountableId: 'o', callerLimit: null, limits: LIMITS }, true);
    const what = { id: `archive of ${id}`, snapshotId: id, base: null, format: 'pods', node: 'n', workspaceUuid: null };
    const archive = { ...what, key: { wrapper: 'w', text: 't' } };
    await streamed().begin(archive, id, 0, LIMITS);
    return archive;
  };
  const complete = async (id: string, state: FinishedState): Promise<void> => {
    await streamed().finish(await begin(id), { sizeBytes: 7, unpackedBytes: 9 }, state);
  };
  const events = async () => {
    const found = await createEventLog(database().kysely).after({ workspaceUuid: 'w', sandboxId: null }, 0, 9);
    return found.map(({ type, details }) => [type, details['message']]);
  };

  it('finds what its node has not completed, or has made for forks', async () => {
    await begin('making');
    await begin('elsewhere', { node: 'other' });
    await begin('local', { driver: 'local' });
    await complete('fork', 'fork');
    await complete('ready', 'ready');
    expect((await streamed().unfinished('n')).toSorted()).toEqual(['fork', 'making']);
  });

  it('discards these, and nothing that has become complete meanwhile', async () => {
    await begin('making');
    await complete('fork', 'fork');
    await complete('ready', 'ready');
    for (const id of ['making', 'fork', 'ready']) await streamed().discard(id, 'too late');
    const found = await snapshots().ofNode('n', ['making', 'ready', 'fork', 'move']);
    expect(found.map(({ id }) => id)).toEqual(['ready']);
    expect(await events()).toEqual([
      ['snapshot_created', undefined],
      ['snapshot_failed', 'too late'],
    ]);
  });

  it('finds complete ones, listed or not', async () => {
    await begin('making');
    for (const state of ['ready', 'fork'] as const) await complete(state, state);
    const found = await Promise.all(['making', 'fork', 'ready', 'none'].map((id) => streamed().find(id)));
    expect(found.map((each) => each?.state ?? null)).toEqual([null, 'fork', 'ready', null]);
  });
});
