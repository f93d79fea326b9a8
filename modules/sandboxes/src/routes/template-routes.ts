import { grantOf, principalOf, type HttpApp, type Owned } from '@svc/http';
import type { CallerLimiter } from '../domain/admission.ts';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import { TEMPLATE_BUILD, TEMPLATE_BUILDER } from '../domain/templates/build-nodes.ts';
import { parseDockerfile } from '../domain/templates/dockerfile.ts';
import type { TemplateService } from '../domain/templates/template-service.ts';
import { parseTemplateName } from '../domain/templates/template.ts';
import { sandboxErrors } from '../errors.ts';
import { creatorFields } from './create-request.ts';
import { goneSignal } from './request-signal.ts';
import { workspaceQuery, workspaceQuerySchema } from './schemas.ts';
import {
  archiveName,
  buildResources,
  copiesOf,
  toBuildView,
  toLogView,
  toTemplateView,
  toBuildPlan,
} from './template-request.ts';
import {
  buildBodySchema,
  buildParams,
  buildSchema,
  filesParams,
  logSchema,
  planBodySchema,
  planSchema,
  tagSchema,
  templateParams,
  templateSchema,
} from './template-schemas.ts';

const tags = ['templates'];
const querystring = workspaceQuerySchema;
const DEFAULT_PAGE_SIZE = 50;
const LISTED_BUILDS = 1;
const MAX_LOG_LINES = 1000;
const MAX_LOG_WAIT_MS = 30_000;

export interface TemplateRoutesOptions {
  readonly templates: TemplateService;
  readonly config: SandboxesConfig;
  readonly createLimiter: CallerLimiter;
}

/** What only the node that builds for the workspace serves. */
export function templateBuilder(request: FastifyRequest): Owned {
  const { workspaceUuid } = grantOf(request);
  return { kind: TEMPLATE_BUILDER, id: workspaceUuid, workspaceUuid };
}

/** What only the node of the build serves. The route's path has `:build`. */
export function templateBuild(request: FastifyRequest): Owned {
  const { build: id } = request.params as { build: string };
  return { kind: TEMPLATE_BUILD, id, workspaceUuid: grantOf(request).workspaceUuid };
}

/** `/api/templates`. */
export async function registerTemplateRoutes(app: HttpApp, options: TemplateRoutesOptions): Promise<void> {
  registerReads(app, options);
  registerBuilds(app, options);
  registerLog(app, options);
  registerTags(app, options);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    registerFiles(scope, options);
  });
}

function registerReads(app: HttpApp, { templates }: TemplateRoutesOptions): void {
  app.get(
    '/api/templates',
    {
      config: { action: 'template:list' },
      schema: {
        tags,
        summary: 'List templates by name, each with its newest build',
        querystring: Type.Object({
          ...workspaceQuery,
          page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '50 by default' })),
          cursor: Type.Optional(Type.String({ maxLength: 200 })),
        }),
        response: {
          200: Type.Object({
            templates: Type.Array(templateSchema),
            count: Type.Integer(),
            next_cursor: Type.Union([Type.String(), Type.Null()]),
          }),
        },
      },
    },
    async (request) => {
      const { page_size: pageSize = DEFAULT_PAGE_SIZE, cursor = null } = request.query;
      const found = await templates.list(grantOf(request).workspaceUuid, { limit: pageSize + 1, after: cursor });
      const page = found.slice(0, pageSize);
      const rendered = await Promise.all(
        page.map(async (each) =>
          toTemplateView(each, await templates.tags(each), await templates.builds(each, LISTED_BUILDS)),
        ),
      );
      const next = found.length > pageSize ? (page.at(-1)?.name ?? null) : null;
      return { templates: rendered, count: rendered.length, next_cursor: next };
    },
  );

  app.get(
    '/api/templates/:name',
    {
      config: { action: 'template:read' },
      schema: {
        tags,
        summary: 'Get a template',
        params: templateParams,
        querystring,
        response: { 200: templateSchema },
      },
    },
    async (request) => {
      const template = await templates.get(grantOf(request).workspaceUuid, request.params.name);
      return toTemplateView(template, await templates.tags(template), await templates.builds(template));
    },
  );

  app.delete(
    '/api/templates/:name',
    {
      config: { action: 'template:delete' },
      schema: {
        tags,
        summary: 'Delete a template with its builds; sandboxes created from it are not affected',
        params: templateParams,
        querystring,
        response: { 200: Type.Object({ name: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { name } = request.params;
      await templates.remove(grantOf(request).workspaceUuid, name);
      return { name, deleted: true as const };
    },
  );
}

function registerBuilds(app: HttpApp, { templates, config, createLimiter }: TemplateRoutesOptions): void {
  app.post(
    '/api/templates/plan',
    {
      config: { action: 'template:create', audit: false },
      schema: {
        tags,
        summary: 'Check a Dockerfile and list the files that its build needs',
        querystring,
        body: planBodySchema,
        response: { 200: planSchema },
      },
    },
    async ({ body }) => {
      const plan = parseDockerfile(body.dockerfile, { args: body.build_args ?? {}, target: body.target ?? null });
      const steps = plan.stages.reduce((sum, stage) => sum + stage.steps.length, 0);
      return { steps, copies: copiesOf(plan).map(({ sources, line }) => ({ sources: [...sources], line })) };
    },
  );

  app.post(
    '/api/templates/:name/builds',
    {
      config: { action: 'template:create', owned: templateBuilder },
      schema: {
        tags,
        summary: 'Build a template from an image, a Dockerfile or steps; it is created if it is new',
        params: templateParams,
        querystring,
        body: buildBodySchema,
        response: { 202: buildSchema },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      await createLimiter.admit(principal, grantOf(request).workspaceUuid);
      const { body } = request;
      const { workspaceUuid } = grantOf(request);
      const plan = toBuildPlan(body);
      const resources = buildResources(body.resources ?? {}, config);
      const wanted = { workspaceUuid, maker: creatorFields(principal), name: request.params.name, resources };
      const [template, build] = await templates.begin({ ...wanted, tags: body.tags ?? [] }, plan);
      const path = `/api/templates/${template.name}/builds/${build.id}`;
      return reply.status(202).header('location', path).send(toBuildView(template, build));
    },
  );

  app.get(
    '/api/templates/:name/builds/:build',
    {
      config: { action: 'template:read' },
      schema: { tags, summary: 'Get a build', params: buildParams, querystring, response: { 200: buildSchema } },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const template = await templates.get(workspaceUuid, request.params.name);
      return toBuildView(template, await templates.build(workspaceUuid, template.id, request.params.build));
    },
  );

  app.post(
    '/api/templates/:name/builds/:build/cancel',
    {
      config: { action: 'template:update', owned: templateBuild },
      schema: { tags, summary: 'Cancel a build', params: buildParams, querystring, response: { 200: buildSchema } },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const template = await templates.get(workspaceUuid, request.params.name);
      return toBuildView(template, await templates.cancel(workspaceUuid, template.id, request.params.build));
    },
  );
}

function registerLog(app: HttpApp, { templates }: TemplateRoutesOptions): void {
  app.get(
    '/api/templates/:name/builds/:build/logs',
    {
      config: { action: 'template:read' },
      schema: {
        tags,
        summary: 'Read the log of a build; wait_ms waits for new lines while it runs',
        params: buildParams,
        querystring: Type.Object({
          ...workspaceQuery,
          after: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'First line; 0 by default' }),
          ),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: MAX_LOG_LINES, description: `${MAX_LOG_LINES} by default` }),
          ),
          wait_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LOG_WAIT_MS })),
        }),
        response: { 200: logSchema },
      },
    },
    async (request, reply) => {
      const { after = 0, limit = MAX_LOG_LINES, wait_ms: waitMs = 0 } = request.query;
      const { name, build: buildId } = request.params;
      const build = await templates.build(grantOf(request).workspaceUuid, name, buildId);
      const found = await templates.log(build, { after, limit, waitMs }, goneSignal(reply));
      return toLogView(found.lines, found.build, after);
    },
  );
}

function registerTags(app: HttpApp, { templates }: TemplateRoutesOptions): void {
  const params = Type.Object({ ...templateParams.properties, tag: tagSchema });
  const target = Type.Object(
    { target: Type.String({ maxLength: 128, description: 'Tag or ID of the build' }) },
    { additionalProperties: false },
  );
  const schema = { tags, params, querystring };
  const tagged = Type.Object({ tag: Type.String(), build_id: Type.String() });
  app.put(
    '/api/templates/:name/tags/:tag',
    {
      config: { action: 'template:update' },
      schema: { ...schema, summary: 'Give a build a tag', body: target, response: { 200: tagged } },
    },
    async (request) => {
      const { name, tag } = request.params;
      const { workspaceUuid } = grantOf(request);
      const template = await templates.get(workspaceUuid, name);
      const { target: wanted } = request.body;
      const isTag = parseTemplateName(`${template.name}:${wanted}`) !== null && !/^[0-9a-f-]{36}$/.test(wanted);
      const build = await templates.assignTags(
        workspaceUuid,
        isTag ? `${template.name}:${wanted}` : wanted,
        [tag],
        template,
      );
      return { tag, build_id: build.id };
    },
  );
  app.delete(
    '/api/templates/:name/tags/:tag',
    {
      config: { action: 'template:update' },
      schema: {
        ...schema,
        summary: 'Remove a tag; the image of a build without one is removed after an hour',
        response: { 200: Type.Object({ tag: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { name, tag } = request.params;
      await templates.removeTags(grantOf(request).workspaceUuid, name, [tag]);
      return { tag, deleted: true as const };
    },
  );
}

function registerFiles(app: HttpApp, { templates }: TemplateRoutesOptions): void {
  app.get(
    '/api/templates/files/:hash',
    {
      config: { action: 'template:read', owned: templateBuilder },
      schema: {
        tags,
        summary: 'Check whether files are uploaded',
        params: filesParams,
        querystring,
        response: { 200: Type.Object({ hash: Type.String(), present: Type.Boolean() }) },
      },
    },
    async (request) => {
      const { hash } = request.params;
      const present = await templates.uploads.has(grantOf(request).workspaceUuid, archiveName(hash));
      return { hash, present };
    },
  );
  app.put(
    '/api/templates/files/:hash',
    {
      config: { action: 'template:create', rawBody: true, owned: templateBuilder },
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema: {
        tags,
        summary: 'Upload files for builds as a tar archive, plain or gzip, by its SHA-256',
        consumes: ['application/x-tar', 'application/gzip', 'application/octet-stream'],
        params: filesParams,
        querystring,
        response: { 200: Type.Object({ hash: Type.String(), size_bytes: Type.Integer() }) },
      },
    },
    async (request) => {
      const { hash } = request.params;
      const { workspaceUuid } = grantOf(request);
      const body = wholeArchive(request.raw);
      const { sizeBytes } = await templates.uploads.write(workspaceUuid, archiveName(hash), body, hash);
      return { hash, size_bytes: sizeBytes };
    },
  );
}

/** Throws if the body ended early, so that no partial archive is stored. */
export async function* wholeArchive(request: IncomingMessage): AsyncGenerator<Buffer, void> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer; // no encoding is set
  if (!request.complete) throw sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'ended early' } });
}
