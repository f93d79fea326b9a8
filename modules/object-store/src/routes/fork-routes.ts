import { createMaker } from '@svc/access';
import { grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { forkName, sanitizeBucketName } from '../domain/bucket-name.ts';
import type { BucketFork } from '../domain/ports/bucket-forks.ts';
import { storeErrors } from '../errors.ts';
import { bucketResource } from './audit-names.ts';
import { envelope, toTimestamp } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import {
  bucketParams,
  closed,
  createEnvelopeSchema,
  createQuerySchema,
  nullableTimestamp,
  TAGS,
  teamQuery,
  timestamp,
} from './schemas.ts';

const DEFAULT_WAIT_MS = 5_000;
const MAX_WAIT_MS = 30_000;

const forkView = Type.Object({
  name: Type.String(),
  source: Type.String({ description: 'Name of the source at the time of the fork' }),
  state: Type.Union([Type.Literal('forking'), Type.Literal('ready')], {
    description: 'The bucket does not exist for other requests until it is ready',
  }),
  started_at: timestamp,
  finished_at: nullableTimestamp,
  object_count: Type.Integer(),
  size_bytes: Type.Integer(),
  copied_count: Type.Integer({ description: 'Objects of the source that the fork has so far' }),
});

/** Forks of buckets. */
export function registerForkRoutes(app: HttpApp, management: ManagementDeps): void {
  const { buckets, forks, deps } = management.services;

  app.post(
    '/buckets/:name/fork',
    {
      config: { action: 'bucket:create', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Fork a bucket: create a bucket with its current objects, which share the stored bytes',
        description:
          'The fork shows the source as it was when the request began. It counts toward the quotas like a copy. ' +
          'Also requires the right to read the objects of the source.',
        params: bucketParams,
        querystring: createQuerySchema({
          wait_ms: Type.Optional(
            Type.Integer({ minimum: 0, maximum: MAX_WAIT_MS, description: 'How long to wait until it is ready' }),
          ),
        }),
        body: Type.Optional(
          Type.Union([
            Type.Object(
              {
                name: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 255,
                    description: 'Converted to `[a-z0-9-]`; by default `<source>-fork-<random>`',
                  }),
                ),
              },
              closed,
            ),
            Type.Null(),
          ]),
        ),
        response: { 201: createEnvelopeSchema(forkView), 202: createEnvelopeSchema(forkView) },
      },
    },
    async (request, reply) => {
      const source = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      await assertMayRead(request, management);
      const wanted = request.body?.name;
      const fork = await forks.start({
        source,
        name: wanted === undefined ? forkName(source.name, deps.random) : sanitizeBucketName(wanted),
        waitMs: request.query.wait_ms ?? DEFAULT_WAIT_MS,
      });
      const isReady = fork.finishedAtMs !== null;
      const message = isReady ? 'Bucket forked' : 'The bucket is being forked';
      return await reply.status(isReady ? 201 : 202).send(envelope(message, toForkView(fork)));
    },
  );

  app.get(
    '/buckets/:name/fork',
    {
      config: { action: 'bucket:read' },
      schema: {
        tags: TAGS,
        summary: 'Get the progress and the source of a bucket that was made as a fork',
        params: bucketParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(forkView) },
      },
    },
    async (request) =>
      envelope('Fork', toForkView(await forks.get(request.params.name, grantOf(request).workspaceUuid))),
  );
}

async function assertMayRead(request: FastifyRequest, { services }: ManagementDeps): Promise<void> {
  const maker = createMaker(principalOf(request));
  const actions = ['object:list', 'object:read'] as const;
  const { workspaceUuid } = grantOf(request);
  const allowed = await services.deps.rights.allowedActions({ maker, workspaceUuid, actions });
  if (actions.every((action) => allowed.has(action))) return;
  throw storeErrors.AccessDenied({ details: { reason: 'Forking a bucket requires permission to read its objects' } });
}

function toForkView(fork: BucketFork): Static<typeof forkView> {
  const { bucket, sourceName, startedAtMs, finishedAtMs, objectCount, sizeBytes, copiedCount } = fork;
  return {
    name: bucket.name,
    source: sourceName,
    state: finishedAtMs === null ? 'forking' : 'ready',
    started_at: toTimestamp(startedAtMs),
    finished_at: finishedAtMs === null ? null : toTimestamp(finishedAtMs),
    object_count: objectCount,
    size_bytes: sizeBytes,
    copied_count: copiedCount,
  };
}
