import { DiskReserve } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';

const MiB = 1024 * 1024;

/** The disk of the data folder, with the reserve that only the platform itself may use. */
export function createDiskReserve(config: PlatformConfig, folder: string, metrics: Metrics): DiskReserve {
  const { disk_reserve_mb: reserveMb } = config;
  const disk = new DiskReserve({ folder, reserveBytes: reserveMb === undefined ? null : reserveMb * MiB });
  const free = metrics.gauge('svc_disk_free_bytes', 'Free space on the disk of the data folder');
  const reserve = metrics.gauge('svc_disk_reserve_bytes', 'Part of it that writes of tenants do not take');
  Object.assign(free, {
    collect: async () => {
      const figures = await disk.figures().catch(() => null); // a disk that does not answer has no figures
      free.set(figures?.freeBytes ?? Number.NaN);
      reserve.set(figures?.reserveBytes ?? Number.NaN);
    },
  });
  return disk;
}
