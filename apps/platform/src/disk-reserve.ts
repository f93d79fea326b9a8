import { DiskReserve, unlimitedDisk, type DiskSpace } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import type { Databases } from './databases.ts';

const MiB = 1024 * 1024;

export interface DiskReserveDeps {
  config: Pick<PlatformConfig, 'disk_reserve_mb'>;
  /** The data folder. */
  folder: string;
  log: Logger;
  metrics: Metrics;
}

/** The data folder's disk, with a reserve that only the platform may use. Logs when only the reserve is left. */
export async function openDiskReserve({ config, folder, log, metrics }: DiskReserveDeps): Promise<DiskSpace> {
  const { disk_reserve_mb: reserveMb } = config;
  const disk = new DiskReserve({
    folder,
    reserveBytes: reserveMb === undefined ? null : reserveMb * MiB,
    onChange: (isShort, { freeBytes, reserveBytes }) => {
      const figures = { free_bytes: freeBytes, reserve_bytes: reserveBytes, setting: 'disk_reserve_mb' };
      if (isShort) log.warn(figures, 'only the disk reserve is left: uploads, sandboxes and snapshots are refused');
      else log.info(figures, 'the disk has room again: uploads, sandboxes and snapshots are accepted');
    },
  });
  const free = metrics.gauge('svc_disk_free_bytes', 'Free space on the disk of the data folder');
  const reserve = metrics.gauge('svc_disk_reserve_bytes', 'Space on this disk that tenants cannot use');
  const figuresNow = () => disk.figures().catch(() => null); // an unresponsive disk has no figures
  metrics.onScrape(async () => {
    const figures = await figuresNow();
    free.set(figures?.freeBytes ?? Number.NaN);
    reserve.set(figures?.reserveBytes ?? Number.NaN);
  });
  await figuresNow(); // logs if the disk is already short at startup
  return disk;
}

/** The disk for data stored only as rows: unlimited if the database is on another machine. */
export function diskForRows({ disk, databases }: { disk: DiskSpace; databases: Databases }): DiskSpace {
  return databases.main.dialect === 'postgres' ? unlimitedDisk : disk;
}
