import { migrations } from '@svc/migrations';
import type { Limits } from '@svc/quotas';
import { describeDialects, fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { createArchiveRepository } from './archive-repository.ts';
import { createSnapshotRepository } from './snapshot-repository.ts';
import type { SandboxTables } from './tables.ts';
import { createTemplateRepository } from './template-repository.ts';

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

function limitsOf(workspaceUuid: string): Limits {
  return { workspaceUuid, ownerId: 'o', ownerWorkspaces: [workspaceUuid], workspace: {}, owner: {} };
}

describeDialects<SandboxTables>('ArchiveRepository', migrations, (database) => {
  it('finds snapshots of every workspace to archive, however many one has, and those that failed last', async () => {
    const snapshots = createSnapshotRepository(database().kysely, { clock: fakeClock(AT) });
    const insert = async (id: string, workspaceUuid: string): Promise<void> => {
      const admission = { accountableId: 'o', callerLimit: null, limits: limitsOf(workspaceUuid) };
      await snapshots.insert(snapshot(id, workspaceUuid), admission, true);
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

  it('are either complete or given up, whichever comes first', async () => {
    const archives = createArchiveRepository(database());
    const key = { wrapper: 'w', text: 't' };
    const begin = async (id: string) => {
      const row = { id, snapshotId: null, base: id, format: 'f', node: 'n', key, workspaceUuid: null };
      await archives.begin(row, null, 0, null);
      return row;
    };
    const sizes = { sizeBytes: 7, unpackedBytes: 9 };
    const complete = await begin('complete');
    expect(await archives.finish(complete, sizes)).toBeNull();
    expect(await archives.markRemoved(complete.id)).toBe(false);
    await archives.forget(complete.id);
    expect(await archives.findBase('complete', 'f')).toMatchObject(sizes);
    const removed = await begin('given up');
    expect(await archives.markRemoved(removed.id)).toBe(true);
    expect(await archives.finish(removed, sizes)).toBe('gone');
    await archives.forget(removed.id);
    expect(await archives.markRemoved(removed.id)).toBe(true);
    expect((await database().kysely.selectFrom('sandbox_archive').select('id').execute()).map(({ id }) => id)).toEqual([
      'complete',
    ]);
    const abandoned = await begin('abandoned');
    await archives.abandon(['n']);
    expect(await archives.markRemoved(abandoned.id)).toBe(true);
    expect(await archives.takeUnneeded(9)).toEqual(['abandoned']);
  });

  describe('of images of templates', () => {
    const archives = () => createArchiveRepository(database());
    const templates = () => createTemplateRepository(database().kysely);
    /** A finished build with a tag of its own. */
    const build = async (id: string, workspaceUuid: string, node = 'n'): Promise<void> => {
      const template = await templates().ensure(
        { id: `tpl_${workspaceUuid}`, workspaceUuid, name: 'name', ownerId: 'o', createdAt: AT },
        limitsOf(workspaceUuid),
      );
      await templates().insertBuild(
        {
          id,
          templateId: template.id,
          workspaceUuid,
          ownerId: 'o',
          node,
          status: 'building',
          tags: [id],
          failure: null,
          resources: { cpuMillis: 500, memoryMb: 64, diskMb: 128, pids: 32 },
          outcome: null,
          layerId: null,
          digest: null,
          createdAt: AT,
          startedAt: AT,
          finishedAt: null,
          archivedAt: null,
          archiveError: null,
        },
        limitsOf(workspaceUuid),
      );
      await templates().finishBuild(id, { outcome: null, layerId: `l ${id}`, digest: `built-${id}` }, AT);
    };
    const archive = async (digest: string, format = 'f', isComplete = true): Promise<void> => {
      const id = `archive of ${digest} ${format}`;
      const key = { wrapper: 'w', text: 't' };
      const row = { id, snapshotId: null, base: digest, format, node: 'n', key, workspaceUuid: null };
      await archives().begin(row, null, 0, null);
      if (isComplete) expect(await archives().finish(row, { sizeBytes: 7, unpackedBytes: 9 })).toBeNull();
    };
    const found = async (): Promise<string[]> =>
      (await archives().unarchivedImages('n', 'f', 100)).map(({ id }) => id).toSorted();
    const letPass = () =>
      database().kysely.updateTable('sandbox_archive').set({ used_at: '2020-01-01T00:00:00.000Z' }).execute();

    it('finds builds of the node with a tag and no complete archive of this format', async () => {
      for (const id of ['complete', 'unfinished', 'foreign', 'none', 'untagged']) await build(id, 'w');
      await build('elsewhere', 'w', 'other');
      await archive('built-complete');
      await archive('built-unfinished', 'f', false);
      await archive('built-foreign', 'g');
      await templates().removeTags('tpl_w', ['untagged']);
      expect(await found()).toEqual(['foreign', 'none', 'unfinished']);
      expect(await archives().findBase('built-foreign', 'f')).toBeNull();
      expect(await archives().findBase('built-unfinished', 'f')).toBeNull();
      expect(await archives().findBase('built-complete', 'f')).toMatchObject({ sizeBytes: 7, unpackedBytes: 9 });
    });

    it('finds those of every workspace, and those that failed last', async () => {
      for (let index = 0; index < 9; index += 1) await build(`a${index}`, 'a');
      for (const id of ['b1', 'b2']) await build(id, 'b');
      await archives().noteImageFailure('b1', 'disk full');
      const first = await archives().unarchivedImages('n', 'f', 2);
      expect(first.map(({ workspaceUuid }) => workspaceUuid).toSorted()).toEqual(['a', 'b']);
      expect((await archives().unarchivedImages('n', 'f', 100)).at(-1)?.id).toBe('b1');
      expect(await templates().findBuild('b1')).toMatchObject({ archivedAt: null, archiveError: 'disk full' });
      await archive('built-b1');
      expect(await templates().findBuild('b1')).toMatchObject({ archivedAt: expect.any(String), archiveError: null });
    });

    it('removes archives of images that no tag refers to, an hour after their last use', async () => {
      for (const id of ['kept', 'gone']) {
        await build(id, 'w');
        await archive(`built-${id}`);
      }
      await templates().removeTags('tpl_w', ['gone']);
      expect(await archives().takeUnneeded(9)).toEqual([]);
      await letPass();
      expect(await archives().takeUnneeded(9)).toEqual(['archive of built-gone f']);
      const { archivedAt } = (await templates().findBuild('kept')) ?? {};
      expect(Date.now() - Date.parse(String(archivedAt))).toBeLessThan(60_000); // its use is noted elsewhere
      expect(await templates().findBuild('gone')).toMatchObject({ archivedAt: null });
    });
  });
});
