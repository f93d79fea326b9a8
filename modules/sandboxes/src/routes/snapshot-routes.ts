import { grantedAccessOf, grantOf, principalOf, type HttpApp } from '@svc/http';
import type { CallerLimiter } from '../domain/admission.ts';
import { type Static, Type } from 'typebox';
import type { SandboxesConfig } from '../config.ts';
import { NAME_PATTERN } from '../domain/identifiers.ts';
import { fork, type ForkDeps } from '../domain/snapshots/fork.ts';
import type { Snapshot } from '../domain/snapshots/snapshot.ts';
import { guestExpiry, limitOf, creatorFields, snapshotLimitOf } from './create-request.ts';
import { toSandboxView, type ImageProgressSource } from './sandbox-view.ts';
import { clusterOfDriver } from '../domain/clusters/sandbox-cluster.ts';
import { goneSignal } from './request-signal.ts';
import {
  idParamsSchema,
  removedSchema,
  sandboxSchema,
  waitQuerySchema,
  workspaceQuery,
  workspaceQuerySchema,
} from './schemas.ts';

const tags = ['sandboxes'];
const DEFAULT_PAGE_SIZE = 50;
const DEFAULT_FORK_WAIT_MS = 5_000;
const MAX_FORKS = 20;

const snapshotSchema = Type.Object({
  id: Type.String({ pattern: '^snp_[a-z2-7]{26}$' }),
  name: Type.String(),
  sandbox_id: Type.String({ description: 'Source sandbox; it may no longer exist' }),
  image: Type.String(),
  cluster_id: Type.Union([Type.String(), Type.Null()], {
    description:
      "Connected cluster in which it was taken; null: by a driver of the platform. Connected clusters of the workspace can use each other's snapshots",
  }),
  disk_mb: Type.Integer({ description: 'Disk in MiB of sandboxes created from it' }),
  size_bytes: Type.Integer({ description: 'Size on disk' }),
  created_at: Type.String({ format: 'date-time' }),
  archived_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Time since which every node can create sandboxes from it; null: only its own node',
  }),
  archive_error: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the last attempt to archive it failed; the next one follows within a few minutes',
  }),
});

const nameOnly = { name: Type.Optional(Type.String({ pattern: NAME_PATTERN })) };

export interface SnapshotRoutesOptions extends ForkDeps {
  readonly config: SandboxesConfig;
  readonly createLimiter: CallerLimiter;
  readonly images: ImageProgressSource;
  readonly now: () => Date;
}

/** `…/:id/snapshots` and `…/:id/fork`. */
export function registerSnapshotMakingRoutes(app: HttpApp, options: SnapshotRoutesOptions & { prefix: string }): void {
  const { prefix, snapshots, config, images } = options;
  app.post(
    `${prefix}/:id/snapshots`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        tags,
        summary: "Create a snapshot of a sandbox's files; its processes freeze during the copy",
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Optional(Type.Union([Type.Object(nameOnly, { additionalProperties: false }), Type.Null()])),
        response: { 201: snapshotSchema },
      },
    },
    async (request, reply) => {
      await options.createLimiter.admit(principalOf(request), grantOf(request).workspaceUuid);
      const { workspaceUuid } = grantOf(request);
      const wanted = { workspaceUuid, maker: creatorFields(principalOf(request)), sandboxId: request.params.id };
      const made = await snapshots.create(
        { ...wanted, name: request.body?.name ?? null },
        snapshotLimitOf(principalOf(request), config),
      );
      return reply.status(201).header('location', `/api/snapshots/${made.id}`).send(render(made));
    },
  );

  const forkBody = Type.Object(
    {
      ...nameOnly,
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FORKS, description: '1 by default' })),
      mounts: Type.Optional(
        Type.Union([Type.Literal('fork'), Type.Literal('share')], {
          description: 'Fork the buckets that the sandbox mounts to write, or share them. Defaults to fork',
        }),
      ),
    },
    { additionalProperties: false },
  );
  app.post(
    `${prefix}/:id/fork`,
    {
      config: { action: 'sandbox:create', answersLate: true },
      schema: {
        tags,
        summary: 'Fork a sandbox: create sandboxes with a copy of its current files, volumes and buckets, all or none',
        params: idParamsSchema,
        querystring: waitQuerySchema,
        body: Type.Optional(Type.Union([forkBody, Type.Null()])),
        response: { 201: Type.Object({ containers: Type.Array(sandboxSchema), count: Type.Integer() }) },
      },
    },
    async (request, reply) => {
      await options.createLimiter.admit(principalOf(request), grantOf(request).workspaceUuid);
      const principal = principalOf(request);
      const wanted = {
        workspaceUuid: grantOf(request).workspaceUuid,
        maker: creatorFields(principal),
        principal,
        granted: grantedAccessOf(request),
        sandboxId: request.params.id,
        name: request.body?.name ?? null,
        count: request.body?.count ?? 1,
        sharesBuckets: request.body?.mounts === 'share',
        limit: limitOf(principal, config),
        expiresAt: guestExpiry(principal, config, options.now()),
      };
      const waitMs = request.query.wait_ms ?? DEFAULT_FORK_WAIT_MS;
      const made = await fork(options, wanted, waitMs, goneSignal(reply));
      const containers = made.map((sandbox) => toSandboxView(sandbox, images));
      return reply.status(201).send({ containers, count: containers.length });
    },
  );
}

/** `/api/snapshots`. */
export function registerSnapshotRoutes(app: HttpApp, { snapshots }: SnapshotRoutesOptions): void {
  app.get(
    '/api/snapshots',
    {
      config: { action: 'sandbox:list' },
      schema: {
        tags,
        summary: 'List snapshots, newest first',
        querystring: Type.Object({
          ...workspaceQuery,
          sandbox_id: Type.Optional(Type.String({ maxLength: 100 })),
          page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '50 by default' })),
          cursor: Type.Optional(Type.String({ maxLength: 200 })),
        }),
        response: {
          200: Type.Object({
            snapshots: Type.Array(snapshotSchema),
            count: Type.Integer(),
            next_cursor: Type.Union([Type.String(), Type.Null()]),
          }),
        },
      },
    },
    async (request) => {
      const { sandbox_id: sandboxId = null, page_size: pageSize = DEFAULT_PAGE_SIZE, cursor = null } = request.query;
      const page = await snapshots.list(grantOf(request).workspaceUuid, { sandboxId, pageSize, cursor });
      return { snapshots: page.snapshots.map(render), count: page.snapshots.length, next_cursor: page.nextCursor };
    },
  );

  app.get(
    '/api/snapshots/:id',
    {
      config: { action: 'sandbox:read' },
      schema: {
        tags,
        summary: 'Get a snapshot',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: snapshotSchema },
      },
    },
    async (request) => render(await snapshots.get(grantOf(request).workspaceUuid, request.params.id)),
  );

  app.delete(
    '/api/snapshots/:id',
    {
      config: { action: 'sandbox:delete' },
      schema: {
        tags,
        summary: 'Delete a snapshot; sandboxes created from it are not affected',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { id } = request.params;
      await snapshots.remove(grantOf(request).workspaceUuid, id);
      return { id, deleted: true as const, message: 'The snapshot was deleted' };
    },
  );
}

function render(snapshot: Snapshot): Static<typeof snapshotSchema> {
  return {
    id: snapshot.id,
    name: snapshot.name,
    sandbox_id: snapshot.sandboxId,
    image: snapshot.image,
    cluster_id: clusterOfDriver(snapshot.driver),
    disk_mb: snapshot.diskMb,
    size_bytes: snapshot.sizeBytes,
    created_at: snapshot.createdAt,
    archived_at: snapshot.archivedAt,
    archive_error: snapshot.archiveError,
  };
}
