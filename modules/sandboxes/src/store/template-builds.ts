import { sql, type Kysely, type Transaction } from 'kysely';
import { quotaExceeded } from '../domain/admission.ts';
import type { SandboxResources } from '../domain/driver.ts';
import type {
  BuildFailure,
  BuildOutcome,
  BuildStatus,
  TemplateBuild,
  TemplateRepository,
} from '../domain/templates/template.ts';
import { sandboxQuotas } from '../quotas.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import type { SandboxTables, TemplateBuildRow } from './tables.ts';

/** Builds in the database. */
export function buildRows(
  kysely: Kysely<SandboxTables>,
): Pick<
  TemplateRepository,
  | 'insertBuild'
  | 'findBuild'
  | 'newestBuild'
  | 'builds'
  | 'startBuild'
  | 'finishBuild'
  | 'failBuild'
  | 'unfinished'
  | 'pruneBuilds'
  | 'untagged'
  | 'forgetImage'
> {
  return {
    insertBuild: (build, limits) =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.template_builds, 1]]);
        if (breach !== null) throw quotaExceeded(breach);
        await transaction.insertInto('template_build').values(buildRow(build)).execute();
      }),

    async findBuild(id) {
      const row = await buildsIn(kysely).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toBuild(row);
    },

    async newestBuild(workspaceUuid) {
      const row = await buildsIn(kysely)
        .where(({ eb, selectFrom }) => {
          const templates = selectFrom('template')
            .select('template.id')
            .where('template.workspace_uuid', '=', workspaceUuid);
          return eb('template_id', 'in', templates); // by the index of templates
        })
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .executeTakeFirst();
      return row === undefined ? null : toBuild(row);
    },

    async builds(templateId, limit) {
      const query = buildsIn(kysely).where('template_id', '=', templateId);
      return (await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()).map(toBuild);
    },

    async startBuild(id, at) {
      const query = kysely.updateTable('template_build').set({ status: 'building', started_at: at });
      return (await query.where('id', '=', id).where('status', '=', 'waiting').returning('id').execute()).length > 0;
    },

    finishBuild: (id, result, at) =>
      kysely.transaction().execute((transaction) => finishBuild(transaction, id, result, at)),

    async failBuild(id, failure, at) {
      await kysely
        .updateTable('template_build')
        .set({ status: 'error', reason: JSON.stringify(failure), finished_at: at })
        .where('id', '=', id)
        .where('status', 'in', ['waiting', 'building'])
        .execute();
    },

    async unfinished(node, states, before) {
      let query = buildsIn(kysely).where('node', '=', node);
      if (before !== undefined) query = query.where('created_at', '<', before);
      return (await query.where('status', 'in', [...states]).execute()).map(toBuild);
    },

    async pruneBuilds(templateId, keep) {
      const old = await kysely
        .selectFrom('template_build')
        .select('id')
        .where('template_id', '=', templateId)
        .where('status', 'in', ['ready', 'error'])
        .where('id', 'not in', kysely.selectFrom('template_tag').select('build_id'))
        .orderBy('created_at', 'desc')
        .offset(keep)
        .limit(1000)
        .execute();
      if (old.length === 0) return;
      const ids = old.map(({ id }) => id);
      await kysely.deleteFrom('template_build').where('id', 'in', ids).execute();
    },

    async untagged(node, before) {
      const rows = await buildsIn(kysely)
        .where('node', '=', node)
        .where('layer_id', 'is not', null)
        .where('created_at', '<', before)
        .where('id', 'not in', kysely.selectFrom('template_tag').select('build_id'))
        .execute();
      return rows.map(toBuild);
    },

    forgetImage: (id) =>
      kysely.transaction().execute(async (transaction) => {
        // Locks the build: a tag that it gets comes first, and is seen here, or finds no image any more.
        const build = () => transaction.updateTable('template_build').where('id', '=', id);
        await build().set({ archive_error: null }).execute();
        await build()
          .set({ layer_id: null, digest: null })
          .where('id', 'not in', transaction.selectFrom('template_tag').select('build_id'))
          .execute();
      }),
  };
}

/** Builds, each with the time since which its image is archived. */
function buildsIn(kysely: Kysely<SandboxTables>) {
  return kysely
    .selectFrom('template_build')
    .selectAll('template_build')
    .select(({ selectFrom }) =>
      selectFrom('sandbox_archive as archive')
        // Earlier versions set no `ready_at`.
        .select(sql<string | null>`min(coalesce(archive.ready_at, archive.used_at))`.as('archived_at'))
        .whereRef('archive.base', '=', 'template_build.digest')
        .where('archive.snapshot_id', 'is', null)
        .where('archive.state', '=', 'ready')
        .as('archived_at'),
    );
}

async function finishBuild(
  transaction: Transaction<SandboxTables>,
  id: string,
  { outcome, layerId, digest }: Pick<TemplateBuild, 'outcome' | 'layerId' | 'digest'>,
  at: string,
): Promise<boolean> {
  const row = await transaction
    .updateTable('template_build')
    .set({ status: 'ready', outcome: JSON.stringify(outcome), layer_id: layerId, digest, finished_at: at })
    .where('id', '=', id)
    .where('status', '=', 'building')
    .returning(['template_id', 'tags'])
    .executeTakeFirst();
  if (row === undefined) return false;
  await assignTags(transaction, row.template_id, id, JSON.parse(row.tags) as string[], at); // written by `buildRow`
  return true;
}

/** Moves tags to a build. */
export async function assignTags(
  transaction: Transaction<SandboxTables>,
  templateId: string,
  buildId: string,
  tags: readonly string[],
  at: string,
): Promise<void> {
  for (const tag of new Set(tags)) {
    await transaction
      .insertInto('template_tag')
      .values({ template_id: templateId, tag, build_id: buildId, created_at: at })
      .onConflict((conflict) =>
        conflict.columns(['template_id', 'tag']).doUpdateSet({ build_id: buildId, created_at: at }),
      )
      .execute();
  }
}

function buildRow(build: TemplateBuild): TemplateBuildRow {
  return {
    id: build.id,
    template_id: build.templateId,
    workspace_uuid: build.workspaceUuid,
    owner_id: build.ownerId,
    node: build.node,
    status: build.status,
    tags: JSON.stringify(build.tags),
    reason: build.failure === null ? null : JSON.stringify(build.failure),
    resources: JSON.stringify(build.resources),
    outcome: build.outcome === null ? null : JSON.stringify(build.outcome),
    layer_id: build.layerId,
    digest: build.digest,
    log_lines: 0,
    created_at: build.createdAt,
    started_at: build.startedAt,
    finished_at: build.finishedAt,
    archive_error: build.archiveError,
  };
}

/** JSON is only written by `buildRow` and the updates here. */
function toBuild(row: TemplateBuildRow & { archived_at: string | null }): TemplateBuild {
  return {
    id: row.id,
    templateId: row.template_id,
    workspaceUuid: row.workspace_uuid,
    ownerId: row.owner_id,
    node: row.node,
    status: row.status as BuildStatus,
    tags: JSON.parse(row.tags) as string[],
    failure: row.reason === null ? null : (JSON.parse(row.reason) as BuildFailure),
    resources: JSON.parse(row.resources) as SandboxResources,
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as BuildOutcome),
    layerId: row.layer_id,
    digest: row.digest,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    archivedAt: row.archived_at,
    archiveError: row.archive_error,
  };
}
