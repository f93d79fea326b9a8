import { databaseTime, publishEvents, type Database } from '@svc/sql';
import { sql, type Kysely } from 'kysely';
import type { MachineRoom, NodeLoad, NodeRepository, SandboxNode, Unarchived } from '../domain/nodes/sandbox-node.ts';
import { DRAINING } from '../domain/nodes/drain-state.ts';
import { NODE_CHANNEL } from './channels.ts';
import type { NodeRow, SandboxTables } from './tables.ts';
import { NOTHING_UNARCHIVED, readUnarchived } from './unarchived.ts';

const NO_LOAD: NodeLoad = {
  running: 0,
  total: 0,
  toDrain: 0,
  cpuMillis: 0,
  memoryMb: 0,
  unarchived: NOTHING_UNARCHIVED,
};

export interface NodeRepositoryOptions {
  /** Whether files are archived for other nodes. */
  readonly hasArchives?: boolean;
}

export function createNodeRepository(
  { kysely, dialect }: Database<SandboxTables>,
  { hasArchives = false }: NodeRepositoryOptions = {},
): NodeRepository {
  const now = databaseTime(dialect);
  return {
    async report(node, { driver, maxRunning, room }) {
      const report = {
        driver,
        max_running: maxRunning,
        cpus: room?.cpus ?? null,
        memory_bytes: room?.memoryBytes ?? null,
        free_memory_bytes: room?.freeMemoryBytes ?? null,
        free_disk_bytes: room?.freeDiskBytes ?? null,
        reported_at: now,
      };
      await kysely
        .insertInto('sandbox_node')
        .values({ node, ...report, drain_requested_at: null })
        .onConflict((conflict) => conflict.column('node').doUpdateSet(report))
        .execute();
    },

    async findDrain(node) {
      const row = await kysely
        .selectFrom('sandbox_node')
        .select(['drain_requested_at', now.as('now')])
        .where('node', '=', node)
        .where('drain_requested_at', 'is not', null)
        .executeTakeFirst();
      if (row === undefined || row.drain_requested_at === null) return null;
      return { elapsedMs: Date.parse(row.now) - Date.parse(row.drain_requested_at) };
    },

    setDraining: (node, isDraining) =>
      kysely.transaction().execute(async (transaction) => {
        const changed = await transaction
          .updateTable('sandbox_node')
          // A repeated request does not begin the notice again.
          .set({ drain_requested_at: isDraining ? sql<string>`coalesce(drain_requested_at, ${now})` : null })
          .where('node', '=', node)
          .returning('node')
          .executeTakeFirst();
        if (changed !== undefined) await publishEvents(transaction, NODE_CHANNEL, [node]);
        return changed !== undefined;
      }),

    async open(driver) {
      const query = kysely.selectFrom('sandbox_node').select('node').where('driver', '=', driver);
      const rows = await query.where('drain_requested_at', 'is', null).orderBy('node').execute();
      return rows.map(({ node }) => node);
    },

    async withRoom(driver) {
      const rows = await kysely
        .selectFrom('sandbox_node')
        .leftJoin('sandbox', (join) =>
          join
            .onRef('sandbox.node', '=', 'sandbox_node.node')
            .on('sandbox.status', 'in', ['creating', 'running'])
            .on('sandbox.removed_at', 'is', null)
            .on('sandbox.cluster', 'is', null),
        )
        .select(({ fn }) => ['sandbox_node.node', 'sandbox_node.max_running', fn.count('sandbox.id').as('running')])
        .where('sandbox_node.driver', '=', driver)
        .where('sandbox_node.drain_requested_at', 'is', null)
        .groupBy(['sandbox_node.node', 'sandbox_node.max_running'])
        .execute();
      const places = rows.map(({ node, max_running: most, running }) => ({ node, room: most - Number(running) }));
      return places
        .filter(({ room }) => room > 0)
        .toSorted((one, other) => other.room - one.room)
        .map(({ node }) => node);
    },

    async list() {
      const nodes = await kysely.selectFrom('sandbox_node').selectAll().orderBy('node').execute();
      const loads = await readLoads(kysely);
      const unarchived = hasArchives ? await readUnarchived(kysely) : new Map<string, Unarchived>();
      return nodes.map((row) => {
        const load = loads.get(row.node) ?? NO_LOAD;
        return fromRow(row, { ...load, unarchived: unarchived.get(row.node) ?? NOTHING_UNARCHIVED });
      });
    },
  };
}

/**
 * Sandboxes that were deleted are not counted, even if their node still has to remove them, and those that clusters run do
 * not load it.
 */
async function readLoads(kysely: Kysely<SandboxTables>): Promise<Map<string, Omit<NodeLoad, 'unarchived'>>> {
  const sum = (of: 'cpu_millis' | 'memory_mb') =>
    sql<number | string>`sum(case when status = 'running' then ${sql.ref(of)} else 0 end)`;
  const rows = await kysely
    .selectFrom('sandbox')
    .select((select) => [
      'node',
      select.fn.countAll().as('total'),
      sql<number | string>`sum(case when status = 'running' then 1 else 0 end)`.as('running'),
      sql<number | string>`sum(case when status in ('creating', 'running')
        or (status = 'stopped' and state_reason = ${DRAINING}) then 1 else 0 end)`.as('to_drain'),
      sum('cpu_millis').as('cpu_millis'),
      sum('memory_mb').as('memory_mb'),
    ])
    .where('removed_at', 'is', null)
    .where('cluster', 'is', null)
    .groupBy('node')
    .execute();
  return new Map(
    rows.map((row) => [
      row.node,
      {
        total: Number(row.total),
        running: Number(row.running),
        toDrain: Number(row.to_drain),
        cpuMillis: Number(row.cpu_millis),
        memoryMb: Number(row.memory_mb),
      },
    ]),
  );
}

function fromRow(row: NodeRow, load: NodeLoad): SandboxNode {
  return {
    node: row.node,
    driver: row.driver,
    maxRunning: row.max_running,
    room: roomIn(row),
    ...load,
    reportedAt: row.reported_at,
    drainRequestedAt: row.drain_requested_at,
  };
}

function roomIn(row: NodeRow): MachineRoom | null {
  const { cpus, memory_bytes: memory, free_memory_bytes: freeMemory, free_disk_bytes: freeDisk } = row;
  if (cpus === null) return null;
  return {
    cpus,
    memoryBytes: Number(memory),
    freeMemoryBytes: Number(freeMemory),
    freeDiskBytes: Number(freeDisk),
  };
}
