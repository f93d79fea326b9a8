import { publishEvents } from '@svc/sql';
import type { Kysely, Selectable } from 'kysely';
import { clusterDriverName, type ClusterReport, type ClusterReports } from '../domain/clusters/sandbox-cluster.ts';
import type { Capability } from '../domain/driver.ts';
import { CLUSTER_START_CHANNEL } from './channels.ts';
import type { ClusterRow, SandboxTables } from './tables.ts';

export function createClusterReports(kysely: Kysely<SandboxTables>): ClusterReports {
  return {
    async save({ clusterId, workspaceUuid, reason, fingerprint, hasGvisor, missingCapabilities, reportedAt }) {
      const values = {
        workspace_uuid: workspaceUuid,
        reason,
        fingerprint,
        has_gvisor: hasGvisor ? 1 : 0,
        missing_capabilities: missingCapabilities === null ? null : JSON.stringify(missingCapabilities),
        reported_at: reportedAt,
      };
      await kysely
        .insertInto('sandbox_cluster')
        .values({ cluster_id: clusterId, ...values })
        .onConflict((conflict) => conflict.column('cluster_id').doUpdateSet(values))
        .execute();
    },

    async find(clusterId) {
      const row = await kysely
        .selectFrom('sandbox_cluster')
        .selectAll()
        .where('cluster_id', '=', clusterId)
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },

    async ofWorkspace(workspaceUuid) {
      const rows = await kysely
        .selectFrom('sandbox_cluster')
        .selectAll()
        .where('workspace_uuid', '=', workspaceUuid)
        .where('reason', 'is', null)
        .execute();
      return rows.map(fromRow);
    },

    async remove(clusterId) {
      await kysely.deleteFrom('sandbox_cluster').where('cluster_id', '=', clusterId).execute();
    },

    async takeOver(clusterId, node) {
      await kysely
        .updateTable('sandbox')
        .set({ node })
        .where('driver', '=', clusterDriverName(clusterId))
        .where('node', '!=', node)
        .execute();
    },

    async requestStart(sandboxId, node) {
      await publishEvents(kysely, CLUSTER_START_CHANNEL, [`${node}/${sandboxId}`]);
    },
  };
}

function fromRow(row: Selectable<ClusterRow>): ClusterReport {
  return {
    clusterId: row.cluster_id,
    workspaceUuid: row.workspace_uuid,
    reason: row.reason,
    fingerprint: row.fingerprint,
    hasGvisor: row.has_gvisor === 1,
    missingCapabilities:
      row.missing_capabilities === null ? null : (JSON.parse(row.missing_capabilities) as Capability[]),
    reportedAt: row.reported_at,
  };
}
