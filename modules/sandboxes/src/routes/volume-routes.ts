import { grantOf, principalOf, type HttpApp, type Owned } from '@svc/http';
import type { CallerLimiter } from '../domain/admission.ts';
import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { NAME_PATTERN } from '../domain/identifiers.ts';
import type { VolumeMounter } from '../domain/ports.ts';
import type { Volume } from '../domain/volumes/volume.ts';
import type { VolumeService } from '../domain/volumes/volume-service.ts';
import { creatorFields } from './create-request.ts';
import { newSandbox } from './new-sandbox.ts';
import { idParamsSchema, workspaceQuery, workspaceQuerySchema } from './schemas.ts';

/** The kind of owned thing that a volume is. */
export const VOLUME = 'volume';

const tags = ['volumes'];
const DEFAULT_PAGE_SIZE = 100;

const nameSchema = Type.String({
  pattern: NAME_PATTERN,
  description: 'Letters, digits, _ and -, beginning with a letter or digit; at most 64',
});
const sizeSchema = Type.Integer({ minimum: 64, maximum: 16_777_216, description: 'Size in MiB' });
/** The path parameter of a volume. */
export const volumeParamsSchema = Type.Object({ name: Type.String({ maxLength: 64 }) });
const timestamp = Type.String({ format: 'date-time' });
const nullableId = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const volumeSchema = Type.Object({
  id: Type.String({ pattern: '^vol_[a-z2-7]{26}$' }),
  name: Type.String(),
  size_mb: Type.Integer({ description: 'Size in MiB; a full volume fails writes' }),
  source_id: nullableId('Volume or volume snapshot that it was created from; it may no longer exist'),
  node: Type.String({ description: 'Node that stores the volume; sandboxes that mount it run there' }),
  mounted_by: Type.Array(
    Type.Object({
      sandbox_id: Type.String(),
      sandbox_name: Type.String(),
      read_only: Type.Boolean(),
      active: Type.Boolean({ description: 'Whether the sandbox is starting, running or paused' }),
    }),
    { description: 'Sandboxes that mount it, stopped ones too' },
  ),
  created_at: timestamp,
});

const snapshotSchema = Type.Object({
  id: Type.String({ pattern: '^vsn_[a-z2-7]{26}$' }),
  name: Type.String(),
  volume_id: nullableId('Volume that it is a copy of; it may no longer exist'),
  size_mb: Type.Integer({ description: 'Minimum size in MiB of volumes created from it' }),
  size_bytes: Type.Integer({ description: 'Size on disk' }),
  created_at: timestamp,
});

const pageQuery = {
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '100 by default' })),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
};
const nextCursor = Type.Union([Type.String(), Type.Null()]);

export interface VolumeRoutesOptions {
  readonly volumes: VolumeService;
  readonly createLimiter: CallerLimiter;
}

/** `/api/volumes` and `/api/volume-snapshots`. */
export function registerVolumeRoutes(app: HttpApp, options: VolumeRoutesOptions): void {
  registerReads(app, options);
  registerCreate(app, options);
  registerChanges(app, options);
  registerSnapshotCreate(app, options);
  registerSnapshots(app, options);
}

function registerReads(app: HttpApp, { volumes }: VolumeRoutesOptions): void {
  app.get(
    '/api/volumes',
    {
      config: { action: 'volume:list' },
      schema: {
        tags,
        summary: 'List volumes, newest first',
        querystring: Type.Object({ ...workspaceQuery, ...pageQuery }),
        response: {
          200: Type.Object({ volumes: Type.Array(volumeSchema), count: Type.Integer(), next_cursor: nextCursor }),
        },
      },
    },
    async (request) => {
      const { page_size: pageSize = DEFAULT_PAGE_SIZE, cursor = null } = request.query;
      const page = await volumes.list(grantOf(request).workspaceUuid, { kind: 'volume', pageSize, cursor });
      const mounters = await volumes.mounters(page.volumes);
      const found = page.volumes.map((volume) => render(volume, mounters));
      return { volumes: found, count: found.length, next_cursor: page.nextCursor };
    },
  );
  app.get(
    '/api/volumes/:name',
    {
      config: { action: 'volume:list' },
      schema: {
        tags,
        summary: 'Get a volume',
        params: volumeParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: volumeSchema },
      },
    },
    async (request) => answer(volumes, await volumes.get(grantOf(request).workspaceUuid, request.params.name)),
  );
}

function registerCreate(app: HttpApp, options: VolumeRoutesOptions): void {
  const { volumes } = options;
  app.post(
    '/api/volumes',
    {
      config: { action: 'volume:create', answersLate: true, ownedByBody: newVolume },
      schema: {
        tags,
        summary: 'Create a volume, empty or from a volume snapshot',
        querystring: workspaceQuerySchema,
        body: Type.Object(
          {
            name: nameSchema,
            size_mb: Type.Optional(sizeSchema),
            snapshot_id: Type.Optional(Type.String({ maxLength: 100, description: 'Volume snapshot to copy' })),
          },
          { additionalProperties: false },
        ),
        response: { 201: volumeSchema },
      },
    },
    async (request, reply) => {
      await options.createLimiter.admit(principalOf(request), grantOf(request).workspaceUuid);
      const { name, size_mb: sizeMb = null, snapshot_id: snapshotId } = request.body;
      const { workspaceUuid } = grantOf(request);
      const source = snapshotId === undefined ? null : await volumes.usableSnapshot(workspaceUuid, snapshotId);
      const maker = creatorFields(principalOf(request));
      const made = await volumes.create({ workspaceUuid, maker, name, sizeMb, source });
      return reply.status(201).header('location', `/api/volumes/${name}`).send(render(made, []));
    },
  );
}

function newVolume(request: FastifyRequest): Owned {
  const { snapshot_id: name } = request.body as { snapshot_id?: string }; // validated
  return newSandbox(request, name === undefined ? null : { kind: 'volume_snapshot', name });
}

function registerChanges(app: HttpApp, { volumes }: VolumeRoutesOptions): void {
  app.patch(
    '/api/volumes/:name',
    {
      config: { action: 'volume:update', owned: ownedVolume, answersLate: true },
      schema: {
        tags,
        summary: 'Make a volume larger',
        params: volumeParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Object({ size_mb: sizeSchema }, { additionalProperties: false }),
        response: { 200: volumeSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      return answer(volumes, await volumes.resize(workspaceUuid, request.params.name, request.body.size_mb));
    },
  );
  app.delete(
    '/api/volumes/:name',
    {
      config: { action: 'volume:delete' },
      schema: {
        tags,
        summary: 'Delete a volume that no sandbox mounts, and its files; its snapshots stay',
        params: volumeParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: Type.Object({ name: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { name } = request.params;
      await volumes.remove(grantOf(request).workspaceUuid, name);
      return { name, deleted: true as const };
    },
  );
}

function registerSnapshotCreate(app: HttpApp, options: VolumeRoutesOptions): void {
  const { volumes } = options;
  const body = Type.Object({ name: Type.Optional(nameSchema) }, { additionalProperties: false });
  app.post(
    '/api/volumes/:name/snapshots',
    {
      config: { action: 'volume:update', owned: ownedVolume, answersLate: true },
      schema: {
        tags,
        summary: 'Create a snapshot of a volume; processes of a sandbox that writes to it freeze during the copy',
        params: volumeParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Optional(Type.Union([body, Type.Null()])),
        response: { 201: snapshotSchema },
      },
    },
    async (request, reply) => {
      await options.createLimiter.admit(principalOf(request), grantOf(request).workspaceUuid);
      const { workspaceUuid } = grantOf(request);
      const maker = creatorFields(principalOf(request));
      const name = request.body?.name ?? null;
      const made = await volumes.createSnapshot(workspaceUuid, request.params.name, maker, name);
      return reply.status(201).header('location', `/api/volume-snapshots/${made.id}`).send(toSnapshotView(made));
    },
  );
}

function registerSnapshots(app: HttpApp, { volumes }: VolumeRoutesOptions): void {
  app.get(
    '/api/volume-snapshots',
    {
      config: { action: 'volume:list' },
      schema: {
        tags,
        summary: 'List snapshots of volumes, newest first',
        querystring: Type.Object({
          ...workspaceQuery,
          volume_id: Type.Optional(Type.String({ maxLength: 100 })),
          ...pageQuery,
        }),
        response: {
          200: Type.Object({ snapshots: Type.Array(snapshotSchema), count: Type.Integer(), next_cursor: nextCursor }),
        },
      },
    },
    async (request) => {
      const { volume_id: sourceId, page_size: pageSize = DEFAULT_PAGE_SIZE, cursor = null } = request.query;
      const filter = { kind: 'snapshot', sourceId, pageSize, cursor } as const;
      const page = await volumes.list(grantOf(request).workspaceUuid, filter);
      const snapshots = page.volumes.map(toSnapshotView);
      return { snapshots, count: snapshots.length, next_cursor: page.nextCursor };
    },
  );
  app.get(
    '/api/volume-snapshots/:id',
    {
      config: { action: 'volume:list' },
      schema: {
        tags,
        summary: 'Get a snapshot of a volume',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: snapshotSchema },
      },
    },
    async (request) => toSnapshotView(await volumes.getSnapshot(grantOf(request).workspaceUuid, request.params.id)),
  );
  app.delete(
    '/api/volume-snapshots/:id',
    {
      config: { action: 'volume:delete' },
      schema: {
        tags,
        summary: 'Delete a snapshot of a volume; volumes created from it are not affected',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { id } = request.params;
      await volumes.removeSnapshot(grantOf(request).workspaceUuid, id);
      return { id, deleted: true as const };
    },
  );
}

/** Only the node of a volume has its files, so that the request is forwarded there. */
export function ownedVolume(request: FastifyRequest): Owned {
  const { name } = request.params as { name: string }; // the route's path has it
  return { kind: VOLUME, id: name, workspaceUuid: grantOf(request).workspaceUuid };
}

async function answer(volumes: VolumeService, volume: Volume): Promise<Static<typeof volumeSchema>> {
  return render(volume, await volumes.mounters([volume]));
}

function render(volume: Volume, mounters: readonly VolumeMounter[]): Static<typeof volumeSchema> {
  return {
    id: volume.id,
    name: volume.name,
    size_mb: volume.sizeMb,
    source_id: volume.sourceId,
    node: volume.node,
    mounted_by: mounters
      .filter(({ volumeId }) => volumeId === volume.id)
      .map(({ sandboxId, sandboxName, readOnly, isActive }) => ({
        sandbox_id: sandboxId,
        sandbox_name: sandboxName,
        read_only: readOnly,
        active: isActive,
      })),
    created_at: volume.createdAt,
  };
}

function toSnapshotView(snapshot: Volume): Static<typeof snapshotSchema> {
  return {
    id: snapshot.id,
    name: snapshot.name,
    volume_id: snapshot.sourceId,
    size_mb: snapshot.sizeMb,
    size_bytes: snapshot.sizeBytes,
    created_at: snapshot.createdAt,
  };
}
