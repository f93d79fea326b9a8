import { migrations } from '@svc/migrations';
import type { Limits } from '@svc/quotas';
import { describeDialects, fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { Sandbox } from '../domain/sandbox.ts';
import type { Volume } from '../domain/volumes/volume.ts';
import { usageByWorkspace } from './quota-usage.ts';
import { createSandboxRepository } from './sandbox-repository.ts';
import type { SandboxTables } from './tables.ts';
import { createVolumeRepository } from './volume-repository.ts';

const AT = '2026-01-01T00:00:00.000Z';
const MIB = 1024 * 1024;

function volume(id: string, changes: Partial<Volume> = {}): Volume {
  return {
    id,
    kind: 'volume',
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    driver: 'd',
    name: id.slice(4),
    sizeMb: 100,
    sizeBytes: 0,
    sourceId: null,
    state: 'making',
    createdAt: AT,
    ...changes,
  };
}

function limits(workspace: Limits['workspace'] = {}): Limits {
  return { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['w'], workspace, owner: {} };
}

function sandbox(id: string, readOnly: boolean, changes: Partial<Sandbox> = {}): Sandbox {
  return {
    id,
    workspaceUuid: 'w',
    ownerId: 'o',
    node: 'n',
    driver: 'd',
    name: id.slice(4),
    image: 'busybox',
    snapshotId: null,
    status: 'creating',
    stateReason: null,
    fault: null,
    environment: {},
    labels: {},
    resources: { cpuMillis: 1000, memoryMb: 64, diskMb: 64, pids: 64 },
    network: 'none',
    egressAllow: null,
    egressRules: [],
    isolation: 'namespaces',
    mounts: [],
    cluster: null,
    volumes: [{ volumeId: 'vol_data', name: 'data', path: '/data', readOnly }],
    idleTimeoutSeconds: null,
    expiresAt: null,
    onDrain: 'stop',
    onExpiry: 'delete',
    resumeSeconds: null,
    requestHost: null,
    onNodeLost: 'wait',
    template: null,
    createdAt: AT,
    startedAt: null,
    lastActivityAt: AT,
    removedAt: null,
    pausedAt: null,
    ...changes,
  };
}

describeDialects<SandboxTables>('VolumeRepository', migrations, (database) => {
  const volumes = () => createVolumeRepository(database().kysely);
  const sandboxes = () => createSandboxRepository(database().kysely, { clock: fakeClock(AT) });
  const admission = { accountableId: 'o', callerLimit: null, limits: limits() };
  const insert = (each: Sandbox) => sandboxes().insert(each, admission, null);
  const make = async (each: Volume): Promise<void> => {
    await volumes().insert(each, limits());
    await volumes().finish(each.id, each.sizeBytes);
  };

  it('shows volumes once they are complete, and keeps names unique among them', async () => {
    await volumes().insert(volume('vol_data'), limits());
    expect(await volumes().find('w', 'data')).toBeNull();
    expect(await volumes().finish('vol_data', 0)).toEqual(volume('vol_data', { state: 'ready' }));
    expect(await volumes().finish('vol_data', 0)).toBeNull();
    expect(await volumes().find('w', 'data')).toEqual(volume('vol_data', { state: 'ready' }));
    expect(await volumes().find('v', 'data')).toBeNull();
    const again = volumes().insert(volume('vol_other', { name: 'data' }), limits());
    await expect(again).rejects.toMatchObject({ code: 'VOLUME_EXISTS' });
    await make(volume('vsn_one', { kind: 'snapshot', name: 'data', sourceId: 'vol_data', sizeBytes: 3_000_000_000 }));
    expect(await volumes().findById('vsn_one')).toMatchObject({ sizeBytes: 3_000_000_000 });
    const filter = { kind: 'snapshot', pageSize: 10, cursor: null } as const;
    expect(await volumes().list('w', { ...filter, sourceId: 'vol_data' })).toMatchObject({
      volumes: [{ id: 'vsn_one' }],
    });
    expect(await volumes().list('w', { ...filter, sourceId: 'vol_other' })).toMatchObject({ volumes: [] });
    expect(await volumes().count('w')).toBe(2);
  });

  it('counts volumes with their size, and complete snapshots with what they take', async () => {
    await make(volume('vol_data'));
    await make(volume('vsn_done', { kind: 'snapshot', sizeBytes: 7 * MIB }));
    await volumes().insert(volume('vsn_making', { kind: 'snapshot' }), limits());
    const usage = (await usageByWorkspace(database().kysely, ['w'])).get('w');
    expect(usage).toMatchObject({ volumes: 1, snapshots: 2, sandbox_disk: 207 });
  });

  it('resizes within the quota, one at a time', async () => {
    await make(volume('vol_data'));
    const quota = limits({ sandbox_disk: 150 });
    expect(await volumes().resize('vol_data', 151, quota)).toMatchObject({ breach: { used: 100, wanted: 51 } });
    expect(await volumes().resize('vol_data', 150, quota)).toMatchObject({
      volume: { sizeMb: 150, state: 'resizing' },
    });
    expect(await volumes().resize('vol_data', 150, quota)).toEqual({ volume: null });
    expect(await volumes().endResize('vol_data', 100)).toMatchObject({ sizeMb: 100, state: 'ready' });
    expect(await volumes().endResize('vol_data', 100)).toBeNull();
  });

  it('lets one sandbox write or several read, and starts none without its volume', async () => {
    await make(volume('vol_data'));
    const outcomes = await Promise.allSettled([insert(sandbox('sbx_one', false)), insert(sandbox('sbx_two', false))]);
    expect(outcomes.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'fulfilled',
      'rejected',
    ]);
    const [mounter] = await sandboxes().mounters(['vol_data']);
    const holder = mounter?.sandboxId ?? '';
    await expect(insert(sandbox('sbx_three', true))).rejects.toMatchObject({ code: 'VOLUME_IN_USE' });
    await sandboxes().change(holder, ['creating'], { status: 'stopped' });
    for (const id of ['sbx_three', 'sbx_four'])
      expect(await insert(sandbox(id, true))).toEqual({ outcome: 'inserted' });
    const start = () => sandboxes().restart(holder, ['stopped'], { status: 'creating' }, limits());
    await expect(start()).rejects.toMatchObject({ code: 'VOLUME_IN_USE' });
    for (const id of ['sbx_three', 'sbx_four']) await sandboxes().remove(id, AT);
    expect(await sandboxes().mounters(['vol_data'])).toHaveLength(3);
    for (const id of ['sbx_three', 'sbx_four']) await sandboxes().purge(id);
    expect(await sandboxes().mounters(['vol_data'])).toEqual([{ ...mounter, isActive: false }]);
    expect(await start()).toMatchObject({ sandbox: { status: 'creating' } });
    const data = volume('vol_data', { state: 'ready' });
    await expect(volumes().remove(data, limits())).rejects.toMatchObject({ code: 'VOLUME_IN_USE' });
    await sandboxes().remove(holder, AT);
    expect(await volumes().remove(data, limits())).toBe(true);
    expect(await volumes().remove(data, limits())).toBe(false);
    await expect(insert(sandbox('sbx_five', true))).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
    await make(volume('vol_next', { name: 'data' }));
    await volumes().purge('vol_data');
    expect((await volumes().ofNode('n', ['ready', 'removed'])).map(({ id }) => id)).toEqual(['vol_next']);
  });
});
