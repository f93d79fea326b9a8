import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import { isSnapshotId } from '../../domain/identifiers.ts';
import type { TemplateService } from '../../domain/templates/template-service.ts';
import type { LogLine, Template, TemplateBuild } from '../../domain/templates/template.ts';
import { sandboxErrors } from '../../errors.ts';
import { creatorFields } from '../../routes/create-request.ts';
import { buildResources } from '../../routes/template-request.ts';
import { templateBuild, templateBuilder } from '../../routes/template-routes.ts';
import { ENVD_VERSION } from '../envd-version.ts';
import { findImage } from './create-body.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';
import { clientArchive, startBuildSchema, toClientPlan } from './template-plan.ts';
import { registerTemplateUpload, uploadUrl, type TemplateUploadDeps } from './template-upload.ts';

const MAX_LOG_LINES = 100;
const LISTED = 200;
/** As in E2B. */
const DEFAULT_CPUS = 2;
const DEFAULT_MEMORY_MB = 1024;

export interface TemplateDeps extends ControlDeps, TemplateUploadDeps {
  readonly prefix: string;
}

const buildParams = Type.Object({ id: Type.String({ maxLength: 256 }), build: Type.String({ maxLength: 64 }) });
const levelSchema = Type.Union(['debug', 'info', 'warn', 'error'].map((level) => Type.Literal(level)));
const hide = true;

/** Templates of E2B clients: builds from images and steps, their logs, names and tags. */
export async function registerTemplateControl(app: HttpApp, deps: TemplateDeps): Promise<void> {
  registerBuilding(app, deps);
  registerStatus(app, deps);
  registerTags(app, deps);
  registerListing(app, deps);
  await registerTemplateUpload(app, deps);
}

function registerBuilding(app: HttpApp, deps: TemplateDeps): void {
  const { prefix, templates, config, createLimiter, catalog } = deps;
  const requestBody = Type.Object({
    name: Type.Optional(Type.String({ maxLength: 260 })),
    alias: Type.Optional(Type.String({ maxLength: 260 })),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 20 })),
    cpuCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
    memoryMB: Type.Optional(Type.Integer({ minimum: 32, maximum: 1_048_576 })),
  });
  app.post(
    `${prefix}/v3/templates`,
    { config: { action: 'template:create', owned: templateBuilder }, schema: { hide, body: requestBody } },
    async (request, reply) => {
      const principal = principalOf(request);
      await createLimiter.admit(principal, grantOf(request).workspaceUuid);
      const {
        name,
        alias,
        tags = [],
        cpuCount: cpu = DEFAULT_CPUS,
        memoryMB: memory = DEFAULT_MEMORY_MB,
      } = request.body;
      const resources = buildResources({ cpu, memory_mb: memory }, config);
      const { workspaceUuid } = grantOf(request);
      const wanted = { workspaceUuid, maker: creatorFields(principal), tags, resources };
      const [template, build] = await templates.request({ ...wanted, name: (name ?? alias ?? '').toLowerCase() });
      const known = { templateID: template.id, buildID: build.id, public: false };
      return reply.status(202).send({ ...known, names: [template.name], aliases: [template.name], tags: build.tags });
    },
  );

  app.get(
    `${prefix}/templates/:id/files/:hash`,
    {
      config: { action: 'template:create', audit: false, owned: templateBuilder },
      schema: {
        hide,
        params: Type.Object({
          id: Type.String({ maxLength: 256 }),
          hash: Type.String({ pattern: '^[A-Za-z0-9_-]{1,120}$' }),
        }),
      },
    },
    async (request, reply) => {
      const { id, hash } = request.params;
      const { workspaceUuid } = grantOf(request);
      await templates.get(workspaceUuid, id);
      const present = await templates.uploads.has(workspaceUuid, clientArchive(hash));
      return reply.status(201).send({ present, url: await uploadUrl(request, hash, deps) });
    },
  );

  app.post(
    `${prefix}/v2/templates/:id/builds/:build`,
    {
      config: { action: 'template:create', owned: templateBuild },
      schema: { hide, params: buildParams, body: startBuildSchema },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { id, build: buildId } = request.params;
      const build = await templates.build(workspaceUuid, id, buildId);
      const isOwn = async (name: string): Promise<boolean> => (await templates.resolve(workspaceUuid, name)) !== null;
      await templates.start(build, await toClientPlan(request.body, catalog, isOwn));
      return reply.status(202).send();
    },
  );
}

function registerStatus(app: HttpApp, { prefix, templates }: TemplateDeps): void {
  const never = new AbortController().signal;
  const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LOG_LINES }));
  app.get(
    `${prefix}/templates/:id/builds/:build/status`,
    {
      config: { action: 'template:read' },
      schema: {
        hide,
        params: buildParams,
        querystring: Type.Object({
          logsOffset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
          limit,
          level: Type.Optional(levelSchema),
        }),
      },
    },
    async (request) => {
      const { id, build: buildId } = request.params;
      const { logsOffset: after = 0, limit: most = MAX_LOG_LINES } = request.query;
      const build = await templates.build(grantOf(request).workspaceUuid, id, buildId);
      const { lines, build: current } = await templates.log(build, { after, limit: most, waitMs: 0 }, never);
      return {
        templateID: current.templateId,
        buildID: current.id,
        status: current.status,
        logs: lines.map(({ message }) => message),
        logEntries: lines.map(toLineView),
        ...(current.failure === null ? {} : { reason: toReasonView(current) }),
      };
    },
  );

  app.get(
    `${prefix}/templates/:id/builds/:build/logs`,
    {
      config: { action: 'template:read' },
      schema: {
        hide,
        params: buildParams,
        querystring: Type.Object({
          cursor: Type.Optional(Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 })),
          limit,
        }),
      },
    },
    async (request) => {
      const { id, build: buildId } = request.params;
      const build = await templates.build(grantOf(request).workspaceUuid, id, buildId);
      const { cursor = 0, limit: most = MAX_LOG_LINES } = request.query;
      const since = new Date(cursor).toISOString();
      const lines = await templates.logSince(build, since, most);
      return { logs: lines.map(toLineView) };
    },
  );
}

function registerTags(app: HttpApp, { prefix, templates }: TemplateDeps): void {
  const tagList = Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 50 });
  app.post(
    `${prefix}/templates/tags`,
    {
      config: { action: 'template:update' },
      schema: { hide, body: Type.Object({ target: Type.String({ maxLength: 260 }), tags: tagList }) },
    },
    async (request, reply) => {
      const { target, tags } = request.body;
      const build = await templates.assignTags(grantOf(request).workspaceUuid, target.toLowerCase(), tags);
      return reply.status(201).send({ buildID: build.id, tags });
    },
  );
  app.delete(
    `${prefix}/templates/tags`,
    {
      config: { action: 'template:update' },
      schema: { hide, body: Type.Object({ name: Type.String({ maxLength: 260 }), tags: tagList }) },
    },
    async (request, reply) => {
      const { name, tags } = request.body;
      await templates.removeTags(grantOf(request).workspaceUuid, name.toLowerCase(), tags);
      return reply.status(204).send();
    },
  );
  app.get(
    `${prefix}/templates/:id/tags`,
    { config: { action: 'template:read' }, schema: { hide, params: e2bIdParams } },
    async (request) => {
      const template = await templates.get(grantOf(request).workspaceUuid, request.params.id);
      const tags = await templates.tags(template);
      return tags.map(({ tag, buildId: buildID, createdAt }) => ({ tag, buildID, createdAt }));
    },
  );
}

function registerListing(app: HttpApp, deps: TemplateDeps): void {
  const { prefix, templates, snapshots, catalog } = deps;
  for (const path of ['/templates', '/v2/templates']) {
    app.get(`${prefix}${path}`, { config: { action: 'template:list' }, schema: { hide } }, async (request) => {
      const found = await templates.list(grantOf(request).workspaceUuid, { limit: LISTED, after: null });
      return Promise.all(found.map((template) => toTemplateView(template, templates)));
    });
  }

  app.get(
    `${prefix}/templates/:id`,
    { config: { action: 'template:read' }, schema: { hide, params: e2bIdParams } },
    async (request) => {
      const template = await templates.get(grantOf(request).workspaceUuid, request.params.id);
      const builds = await templates.builds(template);
      return { ...renderNames(template, builds[0]), builds: builds.map(toBuildView) };
    },
  );

  app.get(
    `${prefix}/templates/aliases/:alias`,
    {
      config: { action: 'image:list' },
      schema: { hide, params: Type.Object({ alias: Type.String({ maxLength: 256 }) }) },
    },
    async (request) => {
      const template = request.params.alias;
      const own = await templates.resolve(grantOf(request).workspaceUuid, template.toLowerCase());
      if (own !== null) return { templateID: own.templateId, public: false };
      const image = findImage(template, catalog);
      if (image === null) throw sandboxErrors.TEMPLATE_NOT_FOUND({ details: { template, supported: catalog.names() } });
      return { templateID: image, public: true };
    },
  );

  app.patch(
    `${prefix}/v2/templates/:id`,
    {
      config: { action: 'template:update' },
      schema: { hide, params: e2bIdParams, body: Type.Object({ public: Type.Optional(Type.Boolean()) }) },
    },
    async (request) => {
      if (request.body.public === true) {
        const remedy = 'build it in each workspace that needs it';
        throw sandboxErrors.E2B_UNSUPPORTED({ details: { feature: 'Publishing a template', remedy } });
      }
      const template = await templates.get(grantOf(request).workspaceUuid, request.params.id);
      return { names: [template.name] };
    },
  );

  // Clients delete a snapshot as a template, too.
  app.delete(
    `${prefix}/templates/:id`,
    { config: { action: 'template:delete' }, schema: { hide, params: e2bIdParams } },
    async (request, reply) => {
      const id = request.params.id.replace(/:(?:default|latest)$/, '');
      const { workspaceUuid } = grantOf(request);
      await (isSnapshotId(id) ? snapshots.remove(workspaceUuid, id) : templates.remove(workspaceUuid, id));
      return reply.status(204).send();
    },
  );
}

function toLineView({ at, level, message, step }: LogLine) {
  return { timestamp: at, level, message, ...(step === null ? {} : { step: String(step) }) };
}

/** Clients find the step in their own list, which begins with the base at 0. */
function toReasonView({ failure }: TemplateBuild): Static<typeof reasonSchema> {
  const unknown = failure?.unknownUser ?? null;
  const message =
    unknown === null
      ? (failure?.message ?? '')
      : `failed to run command '${unknown.command}': command failed: unauthenticated: invalid username: '${unknown.user}'`;
  return { message, ...(typeof failure?.step === 'number' ? { step: String(failure.step + 1) } : {}), logEntries: [] };
}

const reasonSchema = Type.Object({
  message: Type.String(),
  step: Type.Optional(Type.String()),
  logEntries: Type.Array(Type.Never()),
});

function renderNames({ id, name, createdAt }: Template, latest: TemplateBuild | undefined) {
  return {
    templateID: id,
    public: false,
    aliases: [name],
    names: [name],
    createdAt,
    updatedAt: latest?.finishedAt ?? latest?.createdAt ?? createdAt,
    lastSpawnedAt: null,
    spawnCount: 0,
  };
}

async function toTemplateView(template: Template, templates: TemplateService) {
  const builds = await templates.builds(template);
  const latest = builds[0];
  return {
    ...renderNames(template, latest),
    buildID: builds.find(({ status }) => status === 'ready')?.id ?? latest?.id ?? '',
    ...sizesOf(latest),
    createdBy: null,
    buildCount: builds.length,
    envdVersion: ENVD_VERSION,
    buildStatus: latest?.status ?? 'waiting',
  };
}

function toBuildView(build: TemplateBuild) {
  const { id, status, createdAt, startedAt, finishedAt } = build;
  return {
    buildID: id,
    status,
    createdAt,
    updatedAt: finishedAt ?? startedAt ?? createdAt,
    ...(finishedAt === null ? {} : { finishedAt }),
    ...sizesOf(build),
    envdVersion: ENVD_VERSION,
  };
}

function sizesOf(build: TemplateBuild | undefined) {
  const { cpuMillis = 1000, memoryMb = DEFAULT_MEMORY_MB, diskMb = 0 } = build?.resources ?? {};
  return { cpuCount: Math.max(1, Math.ceil(cpuMillis / 1000)), memoryMB: memoryMb, diskSizeMB: diskMb };
}
