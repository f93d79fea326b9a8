import { grantOf, principalOf, type HttpApp, type Owned } from '@svc/http';
import type { CallerLimiter } from '../domain/admission.ts';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import type { ClusterChoice } from '../domain/clusters/choose-cluster.ts';
import type { TemplateService } from '../domain/templates/template-service.ts';
import type { SecretService } from '../domain/secrets/secret-service.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { MAX_MOUNTS_OF_SANDBOX, type WantedBucketMount } from '../domain/mounts/bucket-mount.ts';
import type { MountService } from '../domain/mounts/mount-service.ts';
import type { VolumeService, WantedMount } from '../domain/volumes/volume-service.ts';
import { sandboxErrors } from '../errors.ts';
import type { SnapshotService } from '../domain/snapshots/snapshot-service.ts';
import { expiryIn, limitOf, toCreateRequest } from './create-request.ts';
import { newSandbox } from './new-sandbox.ts';
import { toSandboxView, type ImageProgressSource } from './sandbox-view.ts';
import { goneSignal } from './request-signal.ts';
import {
  changeBodySchema,
  type bucketMountsSchema,
  createBodySchema,
  getQuerySchema,
  idParamsSchema,
  listQuerySchema,
  listSchema,
  removedSandboxSchema,
  removeQuerySchema,
  sandboxSchema,
  type volumeMountsSchema,
  waitQuerySchema,
  workspaceQuerySchema,
} from './schemas.ts';

const DEFAULT_WAIT_MS = 1500;
const DEFAULT_POLL_SECONDS = 30;
/** Contract clients do not use cursors and treat the first page as the whole list, so it has the maximum length. */
const DEFAULT_PAGE_SIZE = 200;
const MAX_AUDIT_LENGTH = 1024;
const tags = ['sandboxes'];

export interface SandboxRoutesOptions {
  /** `/api/containers` or `/api/sandboxes`. */
  readonly prefix: string;
  readonly service: SandboxService;
  readonly isolation: IsolationPolicy;
  readonly snapshots: SnapshotService;
  readonly config: SandboxesConfig;
  readonly createLimiter: CallerLimiter;
  readonly images: ImageProgressSource;
  readonly secrets: SecretService;
  readonly volumes: VolumeService;
  readonly mounts: MountService;
  readonly templates: TemplateService;
  readonly clusters: ClusterChoice;
  readonly now: () => Date;
}

export function registerSandboxRoutes(app: HttpApp, options: SandboxRoutesOptions): void {
  registerReads(app, options);
  registerCreate(app, options);
  registerChanges(app, options);
  registerChange(app, options);
  registerPausing(app, options);
}

function registerReads(app: HttpApp, { prefix, service, config, images }: SandboxRoutesOptions): void {
  app.get(
    prefix,
    {
      config: { action: 'sandbox:list' },
      schema: {
        tags,
        summary: 'List sandboxes, newest first; filters: status, name, label.KEY=VALUE',
        querystring: listQuerySchema,
        response: { 200: listSchema },
      },
    },
    async (request) => {
      const { query } = request;
      const { workspaceUuid } = grantOf(request);
      const page = await service.list(workspaceUuid, {
        status: query.status,
        name: query.name,
        labels: parseLabels(query),
        pageSize: query.page_size ?? DEFAULT_PAGE_SIZE,
        cursor: query.cursor ?? null,
      });
      return {
        containers: page.sandboxes.map((sandbox) => toSandboxView(sandbox, images)),
        count: page.sandboxes.length,
        limit: await service.limitFor(workspaceUuid, limitOf(principalOf(request), config)),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.get(
    `${prefix}/:id`,
    {
      config: { action: 'sandbox:read', anyNode: true },
      schema: {
        tags,
        summary: 'Get a sandbox; wait_for waits for a state until the timeout',
        params: idParamsSchema,
        querystring: getQuerySchema,
        response: { 200: sandboxSchema },
      },
    },
    async (request, reply) => {
      const { wait_for: wanted, timeout } = request.query;
      const { workspaceUuid } = grantOf(request);
      if (wanted === undefined) return toSandboxView(await service.get(workspaceUuid, request.params.id), images);
      const waitMs = (timeout ?? DEFAULT_POLL_SECONDS) * 1000;
      const signal = goneSignal(reply);
      return toSandboxView(await service.waitFor(workspaceUuid, request.params.id, wanted, waitMs, signal), images);
    },
  );
}

function registerCreate(app: HttpApp, options: SandboxRoutesOptions): void {
  const { prefix, service, snapshots, templates, config, isolation, createLimiter, images } = options;
  app.post(
    prefix,
    {
      config: { action: 'sandbox:create', auditResource: mountedBuckets, ownedByBody: newlyOwned },
      schema: {
        tags,
        summary: 'Create a sandbox; 201 if it is running within the wait, otherwise 202',
        body: createBodySchema,
        querystring: waitQuerySchema,
        headers: Type.Object({
          'idempotency-key': Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[!-~]+$' })),
        }),
        response: { 201: sandboxSchema, 202: sandboxSchema },
      },
    },
    async (request, reply) => {
      await createLimiter.admit(principalOf(request), grantOf(request).workspaceUuid);
      const key = request.headers['idempotency-key'] ?? null;
      const grant = grantOf(request);
      const { snapshot_id: snapshotId, template: reference, cluster: place } = request.body;
      const where = typeof place === 'string' ? 'anywhere' : 'here';
      const template = reference === undefined ? null : await templates.usable(grant.workspaceUuid, reference, where);
      const caller = principalOf(request);
      const cluster =
        typeof place === 'string' ? await options.clusters.choose(grant.workspaceUuid, caller, place) : null;
      const snapshot =
        snapshotId === undefined ? null : await snapshots.usable(grant.workspaceUuid, snapshotId, cluster);
      const volumes = await options.volumes.resolve(grant.workspaceUuid, mountsOf(request.body.volumes));
      const wanted = bucketMountsOf(request.body.mounts);
      const mounts = await options.mounts.resolve(grant.workspaceUuid, caller, wanted, volumes);
      const policy = cluster === null ? isolation : isolation.of(cluster);
      const plain = toCreateRequest(request.body, caller, grant, config, key, snapshot, policy, volumes, template);
      const create = { ...plain, mounts, cluster };
      // Those of a snapshot were checked when they were set.
      if (request.body.egress_rules !== undefined) {
        await options.secrets.assertKnown(grant.workspaceUuid, create.egressRules);
      }
      const waitMs = request.query.wait_ms ?? DEFAULT_WAIT_MS;
      const sandbox = await service.create(create, waitMs, goneSignal(reply));
      reply.header('location', `${prefix}/${sandbox.id}`);
      return reply.status(sandbox.status === 'creating' ? 202 : 201).send(toSandboxView(sandbox, images));
    },
  );
}

function registerChanges(app: HttpApp, { prefix, service, volumes, mounts, images }: SandboxRoutesOptions): void {
  const bodyless = Type.Optional(Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()]));
  app.post(
    `${prefix}/:id/start`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        tags,
        summary: 'Start a stopped sandbox, or recover one in error with its files',
        params: idParamsSchema,
        querystring: waitQuerySchema,
        body: bodyless,
        response: { 200: sandboxSchema, 202: sandboxSchema },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const waitMs = request.query.wait_ms ?? DEFAULT_WAIT_MS;
      const sandbox = await service.start(workspaceUuid, request.params.id, waitMs, goneSignal(reply));
      return reply.status(sandbox.status === 'creating' ? 202 : 200).send(toSandboxView(sandbox, images));
    },
  );

  app.post(
    `${prefix}/:id/stop`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        tags,
        summary: 'Stop a sandbox; its files stay',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: bodyless,
        response: { 200: sandboxSchema },
      },
    },
    async (request) => toSandboxView(await service.stop(grantOf(request).workspaceUuid, request.params.id), images),
  );

  app.delete(
    `${prefix}/:id`,
    {
      config: { action: 'sandbox:delete', anyNode: true },
      schema: {
        tags,
        summary: 'Delete a sandbox and its files, in any state',
        params: idParamsSchema,
        querystring: removeQuerySchema,
        response: { 200: removedSandboxSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { workspaceUuid } = grantOf(request);
      const { volumes: wanted = 'keep', drop_data: drops = false } = request.query;
      const answer = { id, deleted: true as const, message: 'The sandbox was deleted' };
      if (wanted === 'keep' && !drops) {
        await service.remove(workspaceUuid, id);
        return answer;
      }
      const sandbox = await service.get(workspaceUuid, id);
      const unwanted = wanted === 'delete' ? sandbox.volumes : await volumes.forksOf(workspaceUuid, sandbox.volumes);
      const dropped = drops ? sandbox.mounts : [];
      await mounts.assertMayDiscard(workspaceUuid, principalOf(request), dropped);
      await service.remove(workspaceUuid, id);
      const deletedVolumes = [...(await volumes.removeUnused(workspaceUuid, unwanted))];
      const deletedBuckets = [...(await mounts.discard(workspaceUuid, dropped))];
      return {
        ...answer,
        ...(unwanted.length === 0 ? {} : { deleted_volumes: deletedVolumes }),
        ...(drops ? { deleted_buckets: deletedBuckets } : {}),
      };
    },
  );
}

function registerChange(app: HttpApp, { prefix, service, config, images, now }: SandboxRoutesOptions): void {
  app.patch(
    `${prefix}/:id`,
    {
      config: { action: 'sandbox:update', anyNode: true },
      schema: {
        tags,
        summary: 'Change the expiry or the labels of a sandbox',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: changeBodySchema,
        response: { 200: sandboxSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const principal = principalOf(request);
      const sandbox = await service.get(workspaceUuid, request.params.id);
      const { expires_in_seconds: seconds, labels } = request.body;
      if (seconds === null && principal.kind === 'guest') {
        const reason = 'is required: sandboxes of guests expire';
        throw sandboxErrors.INVALID_FIELD({ details: { field: 'expires_in_seconds', reason } });
      }
      const wanted = {
        ...(labels !== undefined && { labels }),
        ...(seconds !== undefined && {
          expiresAt: seconds === null ? null : expiryIn(seconds, principal, sandbox, config, now()),
        }),
      };
      return toSandboxView(await service.change(workspaceUuid, sandbox.id, wanted), images);
    },
  );
}

function registerPausing(app: HttpApp, { prefix, service, images }: SandboxRoutesOptions): void {
  const body = Type.Optional(Type.Union([Type.Object({}, { additionalProperties: false }), Type.Null()]));
  const schema = {
    tags,
    params: idParamsSchema,
    querystring: workspaceQuerySchema,
    body,
    response: { 200: sandboxSchema },
  };
  app.post(
    `${prefix}/:id/pause`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        ...schema,
        summary: 'Pause a sandbox; its processes freeze and keep their memory, and any access resumes it',
      },
    },
    async (request) => toSandboxView(await service.pause(grantOf(request).workspaceUuid, request.params.id), images),
  );
  app.post(
    `${prefix}/:id/resume`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: { ...schema, summary: 'Resume a paused sandbox; its processes continue where they stopped' },
    },
    async (request) => toSandboxView(await service.resume(grantOf(request).workspaceUuid, request.params.id), images),
  );
}

function bucketMountsOf(given: Static<typeof bucketMountsSchema> = []): WantedBucketMount[] {
  return given.map(({ bucket, prefix = '', path, read_only: readOnly = false }) => ({
    bucket,
    prefix,
    path,
    readOnly,
  }));
}

/** For the audit log: the buckets that a new sandbox mounts. */
function mountedBuckets({ body }: FastifyRequest): string {
  const { mounts } = (body ?? {}) as Partial<Static<typeof createBodySchema>>; // may have been refused by the schema
  if (!Array.isArray(mounts)) return '';
  return mounts
    .slice(0, MAX_MOUNTS_OF_SANDBOX)
    .map(
      ({ bucket, prefix, read_only: readOnly }) =>
        `bucket/${bucket}/${prefix ?? ''}${readOnly === true ? ' (ro)' : ''}`,
    )
    .join(', ')
    .slice(0, MAX_AUDIT_LENGTH);
}

/** What a sandbox is created from may be on one node only. Clusters get it from there, wherever the request is served. */
function newlyOwned(request: FastifyRequest): Owned | null {
  const { cluster, volumes, snapshot_id: snapshotId, template } = request.body as Static<typeof createBodySchema>; // validated
  const [volume] = volumes ?? [];
  if (typeof cluster === 'string') return null;
  if (volume !== undefined) return newSandbox(request, { kind: 'volume', name: volume.name });
  if (snapshotId !== undefined) return newSandbox(request, { kind: 'snapshot', name: snapshotId });
  return newSandbox(request, template === undefined ? null : { kind: 'template', name: template });
}

function mountsOf(given: Static<typeof volumeMountsSchema> = []): WantedMount[] {
  return given.map(({ name, path, read_only: readOnly = false }) => ({ name, path, readOnly }));
}

function parseLabels(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!name.startsWith('label.')) continue;
    if (typeof value !== 'string') {
      throw sandboxErrors.INVALID_FIELD({ details: { field: name, reason: 'may be given once' } });
    }
    labels[name.slice('label.'.length)] = value;
  }
  return labels;
}
