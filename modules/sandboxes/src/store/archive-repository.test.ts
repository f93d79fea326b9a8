import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { createArchiveRepository } from './archive-repository.ts';
import { createSnapshotRepository } from './snapshot-repository.ts';
import type { SandboxTables } from './tables.ts';

const AT = '2026-01-01T00:00:00.000Z';

function snapshot(id: string, workspaceUuid: string): Snapshot {
  return {
    id,
    workspaceUuid,
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
    state: 'ready',
    createdAt: AT,
  };
}

describeDialects<SandboxTables>('ArchiveRepository', migrations, (database) => {
  it('finds snapshots of every workspace to archive, however many one has, and those that failed last', async () => {
    const snapshots = createSnapshotRepository(database().kysely, { clock: fakeClock(AT) });
    const insert = async (id: string, workspaceUuid: string): Promise<void> => {
      const limits = { workspaceUuid, ownerId: 'o', ownerWorkspaces: [workspaceUuid], workspace: {}, owner: {} };
      await snapshots.insert(snapshot(id, workspaceUuid), { accountableId: 'o', callerLimit: null, limits }, true);
    };
    for (let index = 0; index < 20; index += 1) await insert(`a${index}`, 'a');
    for (const id of ['b1', 'b2']) await insert(id, 'b');
    await insert('c1', 'c');
    const archives = createArchiveRepository(database());
    await archives.noteFailure('b1', 'disk full');
    const found = (await archives.unarchived('n', 4)).map(({ workspaceUuid }) => workspaceUuid);
    expect(found.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
    expect(found[3]).toBe('a');
    expect((await archives.unarchived('n', 100)).at(-1)?.id).toBe('b1');
  });
});
