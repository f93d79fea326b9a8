import type { Kysely, Transaction } from 'kysely';
import { quotaExceeded } from '../domain/admission.ts';
import type {
  LogLevel,
  LogLine,
  Template,
  TemplateLayer,
  TemplateRepository,
  TemplateTag,
} from '../domain/templates/template.ts';
import { sandboxQuotas } from '../quotas.ts';
import { assignTags, buildRows } from './template-builds.ts';
import { breachIn, enterGate } from './quota-usage.ts';
import type { SandboxTables, TemplateLayerRow } from './tables.ts';

const MIB = 1024 * 1024;

export function createTemplateRepository(kysely: Kysely<SandboxTables>): TemplateRepository {
  return {
    ...templateRows(kysely),
    ...buildRows(kysely),
    ...tagRows(kysely),
    ...layerRows(kysely),
    ...logRows(kysely),
  };
}

function templateRows(
  kysely: Kysely<SandboxTables>,
): Pick<TemplateRepository, 'ensure' | 'find' | 'list' | 'remove' | 'count'> {
  return {
    ensure: (template, limits) =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const known = await findTemplate(transaction, template.workspaceUuid, template.name);
        if (known !== null) return known;
        const breach = await breachIn(transaction, limits, [[sandboxQuotas.templates, 1]]);
        if (breach !== null) throw quotaExceeded(breach);
        const { id, workspaceUuid, name, ownerId, createdAt } = template;
        const row = { id, workspace_uuid: workspaceUuid, name, owner_id: ownerId, created_at: createdAt };
        const inserted = await transaction
          .insertInto('template')
          .values(row)
          .onConflict((conflict) => conflict.columns(['workspace_uuid', 'name']).doNothing())
          .returning('id')
          .executeTakeFirst();
        if (inserted !== undefined) return template;
        return (await findTemplate(transaction, workspaceUuid, name)) ?? template;
      }),

    find: (workspaceUuid, idOrName) => findTemplate(kysely, workspaceUuid, idOrName),

    async list(workspaceUuid, { limit, after }) {
      let query = kysely.selectFrom('template').selectAll().where('workspace_uuid', '=', workspaceUuid);
      if (after !== null) query = query.where('name', '>', after);
      return (await query.orderBy('name').limit(limit).execute()).map(toTemplate);
    },

    async remove(id) {
      const query = kysely.deleteFrom('template').where('id', '=', id).returning('id');
      return (await query.execute()).length > 0;
    },

    async count(workspaceUuid) {
      const { count } = await kysely
        .selectFrom('template')
        .where('workspace_uuid', '=', workspaceUuid)
        .select(({ fn }) => fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}

async function findTemplate(
  kysely: Kysely<SandboxTables> | Transaction<SandboxTables>,
  workspaceUuid: string,
  idOrName: string,
): Promise<Template | null> {
  const row = await kysely
    .selectFrom('template')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where((where) => where.or([where('name', '=', idOrName), where('id', '=', idOrName)]))
    .executeTakeFirst();
  return row === undefined ? null : toTemplate(row);
}

function tagRows(
  kysely: Kysely<SandboxTables>,
): Pick<TemplateRepository, 'tags' | 'findTag' | 'assignTags' | 'removeTags'> {
  return {
    async tags(templateId) {
      const query = kysely.selectFrom('template_tag').selectAll().where('template_id', '=', templateId);
      return (await query.orderBy('tag').execute()).map(toTag);
    },

    async findTag(templateId, tag) {
      const query = kysely.selectFrom('template_tag').selectAll().where('template_id', '=', templateId);
      const row = await query.where('tag', '=', tag).executeTakeFirst();
      return row === undefined ? null : toTag(row);
    },

    assignTags: (templateId, buildId, tags, at) =>
      kysely.transaction().execute(async (transaction) => {
        // Locks the build, whose image may be about to be forgotten.
        const build = await transaction
          .updateTable('template_build')
          .set((column) => ({ digest: column.ref('digest') }))
          .where('id', '=', buildId)
          .where('digest', 'is not', null)
          .returning('id')
          .executeTakeFirst();
        if (build !== undefined) await assignTags(transaction, templateId, buildId, tags, at);
        return build !== undefined;
      }),

    async removeTags(templateId, tags) {
      if (tags.length === 0) return 0;
      const query = kysely.deleteFrom('template_tag').where('template_id', '=', templateId);
      return (
        await query
          .where('tag', 'in', [...tags])
          .returning('tag')
          .execute()
      ).length;
    },
  };
}

function layerRows(
  kysely: Kysely<SandboxTables>,
): Pick<TemplateRepository, 'findLayer' | 'insertLayer' | 'removeLayer' | 'layerIds' | 'unusedLayers'> {
  return {
    async findLayer(workspaceUuid, node, cacheKey, at) {
      const row = await kysely
        .selectFrom('template_layer')
        .selectAll()
        .where('workspace_uuid', '=', workspaceUuid)
        .where('node', '=', node)
        .where('cache_key', '=', cacheKey)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (row === undefined) return null;
      await kysely.updateTable('template_layer').set({ last_used_at: at }).where('id', '=', row.id).execute();
      return toLayer(row);
    },

    insertLayer: (layer, limits) =>
      kysely.transaction().execute(async (transaction) => {
        await enterGate(transaction, limits);
        const demand = [[sandboxQuotas.sandbox_disk, Math.ceil(layer.sizeBytes / MIB)] as const];
        const breach = await breachIn(transaction, limits, demand);
        if (breach !== null) throw quotaExceeded(breach);
        await transaction.insertInto('template_layer').values(layerRow(layer)).execute();
      }),

    async removeLayer(id) {
      await kysely.deleteFrom('template_layer').where('id', '=', id).execute();
    },

    async layerIds(node) {
      const rows = await kysely.selectFrom('template_layer').select('id').where('node', '=', node).execute();
      return new Set(rows.map(({ id }) => id));
    },

    async unusedLayers(node, before) {
      const rows = await kysely
        .selectFrom('template_layer as layer')
        .selectAll('layer')
        .where('layer.node', '=', node)
        .where((where) =>
          where.not(
            where.exists(
              where.selectFrom('template_build').select('id').whereRef('template_build.layer_id', '=', 'layer.id'),
            ),
          ),
        )
        // The last layer of a build is no cache of a step.
        .where((where) =>
          where.or([where('layer.last_used_at', '<', before), where('layer.cache_key', 'like', 'build %')]),
        )
        .limit(1000)
        .execute();
      return rows.map(toLayer);
    },
  };
}

function logRows(kysely: Kysely<SandboxTables>): Pick<TemplateRepository, 'appendLog' | 'log' | 'logSince'> {
  const linesOf = (buildId: string, limit: number) =>
    kysely.selectFrom('template_log').selectAll().where('build_id', '=', buildId).orderBy('sequence').limit(limit);
  return {
    async appendLog(buildId, lines) {
      await kysely.transaction().execute(async (transaction) => {
        const last = lines.at(-1);
        if (last === undefined) return;
        const query = transaction.updateTable('template_build').set({ log_lines: last.sequence + 1 });
        const known = await query.where('id', '=', buildId).returning('id').executeTakeFirst();
        if (known === undefined) return;
        const rows = lines.map((line) => ({ build_id: buildId, ...line }));
        await transaction.insertInto('template_log').values(rows).execute();
      });
    },

    async log(buildId, after, limit) {
      return (await linesOf(buildId, limit).where('sequence', '>=', after).execute()).map(toLine);
    },

    async logSince(buildId, since, limit) {
      return (await linesOf(buildId, limit).where('at', '>=', since).execute()).map(toLine);
    },
  };
}

/** Levels are only written by `appendLog`. */
function toLine({ sequence, at, level, step, message }: SandboxTables['template_log']): LogLine {
  return { sequence, at, level: level as LogLevel, step, message };
}

function toTemplate(row: SandboxTables['template']): Template {
  const { id, workspace_uuid: workspaceUuid, name, owner_id: ownerId, created_at: createdAt } = row;
  return { id, workspaceUuid, name, ownerId, createdAt };
}

function toTag({ tag, build_id: buildId, created_at: createdAt }: SandboxTables['template_tag']): TemplateTag {
  return { tag, buildId, createdAt };
}

function layerRow({
  id,
  workspaceUuid,
  node,
  cacheKey,
  digest,
  sizeBytes,
  createdAt,
}: TemplateLayer): TemplateLayerRow {
  return {
    id,
    workspace_uuid: workspaceUuid,
    node,
    cache_key: cacheKey,
    digest,
    size_bytes: sizeBytes,
    created_at: createdAt,
    last_used_at: createdAt,
  };
}

/** PostgreSQL returns big integers as text. */
function toLayer(row: TemplateLayerRow): TemplateLayer {
  const { id, node, digest } = row;
  const { workspace_uuid: workspaceUuid, cache_key: cacheKey, created_at: createdAt } = row;
  return { id, workspaceUuid, node, cacheKey, digest, sizeBytes: Number(row.size_bytes), createdAt };
}
