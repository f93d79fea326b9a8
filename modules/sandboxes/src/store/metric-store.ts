import type { Kysely } from 'kysely';
import type { MetricSample, MetricStore } from '../domain/metrics/metric-sample.ts';
import type { SandboxTables } from './tables.ts';

/** Both dialects limit the parameters of a statement. */
const ROWS_PER_INSERT = 100;

export function createMetricStore(kysely: Kysely<SandboxTables>): MetricStore {
  return {
    async append(samples) {
      await kysely.transaction().execute(async (transaction) => {
        for (let start = 0; start < samples.length; start += ROWS_PER_INSERT) {
          const part = samples.slice(start, start + ROWS_PER_INSERT);
          const ids = part.map(({ sandboxId }) => sandboxId);
          const found = await transaction.selectFrom('sandbox').select('id').where('id', 'in', ids).execute();
          const there = new Set(found.map(({ id }) => id));
          const rows = part.filter(({ sandboxId }) => there.has(sandboxId)).map(toRow);
          if (rows.length === 0) continue;
          await transaction
            .insertInto('sandbox_metric')
            .values(rows)
            .onConflict((conflict) => conflict.columns(['sandbox_id', 'at']).doNothing())
            .execute();
        }
      });
    },

    async since(sandboxId, after, limit) {
      const rows = await kysely
        .selectFrom('sandbox_metric')
        .selectAll()
        .where('sandbox_id', '=', sandboxId)
        .where('at', '>', after)
        .orderBy('at', 'desc')
        .limit(limit)
        .execute();
      return rows.map(fromRow).toReversed();
    },

    async prune(before) {
      await kysely.deleteFrom('sandbox_metric').where('at', '<', before).execute();
    },
  };
}

function toRow(sample: MetricSample & { readonly sandboxId: string }): SandboxTables['sandbox_metric'] {
  return {
    sandbox_id: sample.sandboxId,
    at: sample.at,
    cpu_millis: sample.cpuCores === null ? null : Math.round(sample.cpuCores * 1000),
    memory_bytes: sample.memoryBytes,
    pids: sample.pids,
    disk_bytes: sample.diskBytes,
  };
}

function fromRow(row: SandboxTables['sandbox_metric']): MetricSample {
  return {
    at: row.at,
    cpuCores: row.cpu_millis === null ? null : row.cpu_millis / 1000,
    memoryBytes: row.memory_bytes,
    pids: row.pids,
    diskBytes: row.disk_bytes,
  };
}
