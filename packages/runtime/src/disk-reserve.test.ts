import { describe, expect, it } from 'vitest';
import { defaultReserveBytes, DiskReserve } from './disk-reserve.ts';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** A disk with test-controlled free space and a reserve of 10 MiB. */
function createDisk(freeBytes: number) {
  const changes: boolean[] = [];
  const disk = { freeBytes, changes, nowMs: 0, measured: 0, isBroken: false };
  const reserve = new DiskReserve({
    folder: '/',
    reserveBytes: 10 * MiB,
    nowMs: () => disk.nowMs,
    onChange: (isShort) => void changes.push(isShort),
    measure: async () => {
      disk.measured += 1;
      if (disk.isBroken) throw new Error('EIO');
      return { totalBytes: 100 * MiB, freeBytes: disk.freeBytes };
    },
  });
  return { disk, reserve };
}

describe('DiskReserve', () => {
  it('admits what leaves the reserve free, and counts it at once', async () => {
    const { reserve } = createDisk(13 * MiB);
    expect(await Promise.all([1, 2, 3, 4].map(() => reserve.take(MiB)))).toEqual([true, true, true, false]);
    expect(await reserve.take(0)).toBe(true);
  });

  it('asks the disk again when it looks full, so that a delete brings writes back', async () => {
    const { disk, reserve } = createDisk(10 * MiB);
    expect(await reserve.hasRoom(MiB)).toBe(false);
    disk.freeBytes = 20 * MiB;
    disk.nowMs = 10;
    expect(await reserve.hasRoom(MiB)).toBe(true);
  });

  it('tells when only the reserve is left and when there is room again, not every time that it is close', async () => {
    const { disk, reserve } = createDisk(20 * MiB);
    const measure = async (freeBytes: number): Promise<void> => {
      disk.freeBytes = freeBytes;
      await reserve.figures();
    };
    for (const free of [20, 9.9, 10.1, 9.9, 10.4, 10.6, 10.1]) await measure(free * MiB);
    expect(disk.changes).toEqual([true, false]);
  });

  it('asks the disk rarely while there is room', async () => {
    const { disk, reserve } = createDisk(90 * MiB);
    for (let count = 0; count < 50; count += 1) await reserve.hasRoom(1);
    expect(disk.measured).toBe(1);
    disk.nowMs = 250;
    await reserve.hasRoom(1);
    expect(disk.measured).toBe(2);
  });

  it('admits nothing on a disk that does not answer', async () => {
    const { disk, reserve } = createDisk(90 * MiB);
    disk.isBroken = true;
    expect(await reserve.hasRoom(0)).toBe(false);
    disk.isBroken = false;
    expect(await reserve.hasRoom(0)).toBe(true);
  });

  it('keeps 5 % by default, within bounds that suit small and large disks', () => {
    const sizes = [64 * MiB, 2 * GiB, 10 * GiB, 100 * GiB, 4_000 * GiB];
    expect(sizes.map((size) => defaultReserveBytes(size) / GiB)).toEqual([1 / 64, 0.5, 1, 5, 20]);
  });
});
