import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { RunningPlatform } from './platform.ts';

const DAY_MS = 86_400_000;
const MiB = 1024 * 1024;
/** Unit of daily growth. */
const UNIT = MiB / 8;

/**
 * Writes a month of a growing bucket in addition to the platform's own records, with three days of downtime. Returns
 * the number of days written.
 */
export async function writeUsageHistory(
  platform: RunningPlatform,
  bucket: string,
  nowMs: number,
  workspaceUuid = platform.workspaceUuid,
): Promise<number> {
  const database = new DatabaseSync(join(platform.dataFolder, 'objects', 'objects.db'), { timeout: 10_000 });
  try {
    const found = database.prepare('select id from bucket where name = ?').get(bucket);
    const insert = database.prepare(
      `insert into usage_history (bucket_id, workspace_uuid, resolution, period_start_ms, object_count, size_bytes,
         request_count, bytes_in, bytes_out) values (?, ?, 'day', ?, ?, ?, ?, ?, ?)`,
    );
    const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
    let days = 0;
    for (let day = 29; day >= 1; day -= 1) {
      if (day >= 12 && day <= 14) continue;
      const age = 29 - day;
      const size = age * 9 * UNIT + (age % 4) * 3 * UNIT;
      const moved = [300 + (age % 7) * 90, (9 + (age % 4)) * MiB, (60 + (age % 5) * 25) * MiB];
      for (const id of [Number(found?.['id']), 0]) {
        insert.run(id, workspaceUuid, today - day * DAY_MS, 40 + age * 12, size, ...moved);
      }
      days += 1;
    }
    return days;
  } finally {
    database.close();
  }
}
