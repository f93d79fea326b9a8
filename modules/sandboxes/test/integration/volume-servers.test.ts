import { createLogger } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unlimitedQuotas } from '@svc/quotas';
import { FakeDriver } from '../support/fake-driver.ts';
import type { Volume } from '../../src/domain/volumes/volume.ts';
import { VolumeServers, type OpenVolume } from '../../src/domain/volumes/volume-servers.ts';

describe('the helpers of volumes', () => {
  let driver: FakeDriver;
  let clock: ReturnType<typeof fakeClock>;
  let servers: VolumeServers;
  const deleted = new Set<string>();
  const volume = (name: string, workspaceUuid = 'mine') => ({ id: `vol_${name}`, workspaceUuid });
  const running = (): string[] => [...driver.volumeServers.keys()].map((id) => id.slice(4)).toSorted();
  const make = async (names: readonly string[]) => {
    for (const name of names) await driver.volumes.create(`vol_${name}`, 64);
  };

  beforeEach(() => {
    driver = new FakeDriver();
    clock = fakeClock();
    deleted.clear();
    servers = new VolumeServers({
      driver: () => driver.volumes,
      quotaLimits: { ...unlimitedQuotas, shareOf: (workspace) => workspace.split('/', 1)[0] ?? '' }, // OWNER/WORKSPACE
      repository: { findById: async (id) => (deleted.has(id) ? null : ({ id } as Volume)) }, // only whether it is there
      clock,
      log: createLogger({ level: 'silent', name: 'test' }),
    });
  });
  afterEach(async () => {
    await servers.close();
    await driver.dispose();
  });

  it('serve all requests of a volume with one helper, which ends after some idle seconds', async () => {
    await make(['a']);
    const [one, two] = await Promise.all([servers.open(volume('a')), servers.open(volume('a'))]);
    expect(one.connection).toBe(two.connection);
    const end = one.begin();
    for (let second = 0; second < 30; second += 1) await clock.advance(1000);
    expect(running()).toEqual(['a']);
    end();
    end(); // counts once
    for (let second = 0; second < 9; second += 1) await clock.advance(1000);
    expect(running()).toEqual(['a']);
    for (let second = 0; second < 3; second += 1) await clock.advance(1000);
    await waitFor(() => running().length === 0);
    await one.connection.closed;
    expect((await servers.open(volume('a'))).connection.lost).toBe(false);
  });

  it('end in the middle of a request when the volume is deleted, here or by another replica', async () => {
    await make(['a', 'b']);
    const [a, b] = [await servers.open(volume('a')), await servers.open(volume('b'))];
    a.begin();
    b.begin();
    await servers.releaseIdle('vol_a');
    expect(running()).toEqual(['a', 'b']);
    await servers.release('vol_a');
    expect(running()).toEqual(['b']);
    expect(a.connection.lost).toBe(true);
    deleted.add('vol_b');
    await clock.advance(1000);
    await b.connection.closed;
  });

  it('end within a second of that between two operations of a request, such as the pages of a listing', async () => {
    await make(['a']);
    const { connection, begin } = await servers.open(volume('a'));
    begin()();
    deleted.add('vol_a');
    await clock.advance(1000);
    await waitFor(() => connection.lost, { timeoutMs: 2000 });
    expect(running()).toEqual([]);
  });

  it('are bounded for each workspace: idle ones make room, and a busy workspace waits without keeping others out', async () => {
    const mine = Array.from({ length: 9 }, (_, index) => `m${index}`);
    await make([...mine, 'other']);
    for (const name of mine.slice(0, 8)) await servers.open(volume(name));
    await servers.open(volume('m8'));
    expect(running()).toEqual(mine.slice(1));
    for (const name of mine.slice(1)) (await servers.open(volume(name))).begin();
    await expect(servers.open(volume('m0'))).rejects.toMatchObject({ code: 'VOLUMES_BUSY', status: 503 });
    expect((await servers.open(volume('other', 'theirs'))).connection.lost).toBe(false);
  });

  it('leave places for other owners, however many workspaces one has', async () => {
    for (let count = 0; ; count += 1) {
      const name = `ann${count}`;
      await make([name]);
      const opened = await servers.open(volume(name, `ann/${Math.floor(count / 8)}`)).catch((error: unknown) => error);
      if (opened instanceof Error) {
        expect(opened).toMatchObject({ code: 'VOLUMES_BUSY' });
        break;
      }
      expect(count).toBeLessThan(40);
      (opened as OpenVolume).begin();
    }
    await make(['bob']);
    expect((await servers.open(volume('bob', 'bob/1'))).connection.lost).toBe(false);
  });

  it('are started again after they died, and a failed start leaves nothing', async () => {
    await make(['a']);
    const { connection } = await servers.open(volume('a'));
    await driver.volumeServers.get('vol_a')?.close();
    await connection.closed;
    driver.volumeServers.delete('vol_a');
    expect((await servers.open(volume('a'))).connection.lost).toBe(false);
    await expect(servers.open(volume('none'))).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
    expect(running()).toEqual(['a']);
  });
});
