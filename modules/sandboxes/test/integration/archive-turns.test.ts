import { systemRandom, unlimitedDisk } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { unlimitedQuotas } from '@svc/quotas';
import { expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import type { Snapshot } from '../../src/domain/snapshots/snapshot.ts';
import type { ArchiveDriver } from '../../src/domain/driver.ts';
import type { ArchiveBlobs, ArchiveRepository } from '../../src/domain/archives/archive.ts';
import { SnapshotArchives } from '../../src/domain/archives/snapshot-archives.ts';

function snapshot(id: string, workspaceUuid: string): Snapshot {
  return {
    id,
    workspaceUuid,
    ownerId: 'o',
    node: 'n',
    driver: 'fake',
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
    createdAt: '2026-01-01T00:00:00.000Z',
  };
}

it('archives snapshots of owners in turns, those included that come while many of one owner wait', async () => {
  const waiting = ['ann/1', 'ann/2', 'ann/3', 'ann/4'].map((id) => snapshot(id, id.endsWith('4') ? 'ann 2' : 'ann 1'));
  const archived: string[] = [];
  const none = async (): Promise<readonly string[]> => [];
  const repository: ArchiveRepository = {
    begin: async () => null,
    finish: async ({ snapshotId }) => {
      const index = waiting.findIndex(({ id }) => id === snapshotId);
      archived.push(...waiting.splice(index, 1).map(({ id }) => id));
      if (archived.length === 1) waiting.push(snapshot('bob/1', 'bob'));
      return null;
    },
    markRemoved: async () => true,
    forget: async () => undefined,
    noteFailure: async () => undefined,
    noteImageFailure: async () => undefined,
    find: async () => null,
    findBase: async () => null,
    useBase: async () => null,
    unarchivedImages: async () => [],
    unarchived: async () => [...waiting],
    unfinished: none,
    abandon: async () => undefined,
    takeUnneeded: none,
    abandoned: none,
  };
  const blobs: ArchiveBlobs = {
    createAs: async () => ({ write: async () => undefined, seal: async () => undefined, abort: async () => undefined }),
    read: async function* () {},
    remove: async () => undefined,
    sweepUnsealed: async () => 0,
    close: async () => undefined,
  };
  const driver = new FakeDriver();
  const read: ArchiveDriver['read'] = async function* () {
    yield Buffer.from('files');
  };
  Object.assign(driver.snapshots, { archives: { format: 'fake', base: async () => null, read } });
  const archives = new SnapshotArchives({
    blobs,
    isShared: true,
    isOnDisk: false,
    repository,
    streamedRepository: {
      begin: async () => 'gone',
      finish: async () => null,
      find: async () => null,
      fail: async () => undefined,
      unfinished: none,
      discard: async () => undefined,
      sweep: async () => undefined,
    },
    layers: {
      findLayer: async () => null,
      insertLayer: async () => undefined,
      removeLayer: async () => undefined,
    },
    driver,
    sealer: { wrap: async () => ({ wrapper: 'w', text: 't' }), unwrap: async () => Buffer.alloc(32) },
    quotaLimits: { ...unlimitedQuotas, shareOf: (workspaceUuid) => workspaceUuid.split(' ', 1)[0] ?? '' },
    node: 'n',
    nodes: { silent: async () => [] },
    disk: unlimitedDisk,
    clock: fakeClock(),
    random: systemRandom,
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  archives.start();
  await waitFor(() => archived.length === 5);
  await archives.close();
  await driver.dispose();
  expect(archived.slice(0, 3)).toContain('bob/1');
});
