import { isAppError } from '@svc/errors';
import { grantOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import { assertObjectKey } from '../../domain/object-key.ts';
import type { ObjectName } from '../../domain/object-service.ts';
import type { DeletedObject } from '../../domain/ports/objects.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { bucketResource, objectResource } from '../audit-names.ts';
import { envelope } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, createQuerySchema, TAGS, teamQuery } from '../schemas.ts';
import { originOf } from './event-origin.ts';
import { deletedView, deleteManyBody, deleteManyView, keyText, versionIdText } from './object-schemas.ts';

/** Deletes that run in parallel and share a commit. */
const AT_A_TIME = 64;

interface Name {
  key: string;
  version_id?: string;
}

type Outcome = { deleted: Static<typeof deletedView> } | { error: Static<typeof deleteManyView>['errors'][number] };

export function registerDeleteRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, objects } = services;

  app.delete(
    '/buckets/:name/objects',
    {
      config: { action: 'object:delete', auditResource: objectResource },
      schema: {
        tags: TAGS,
        summary: 'Delete an object or one of its versions; succeeds if it does not exist',
        params: bucketParams,
        querystring: createQuerySchema({ key: keyText, version_id: Type.Optional(versionIdText) }),
        response: { 200: createEnvelopeSchema(deletedView) },
      },
    },
    async (request) => {
      const { key, version_id: versionId } = request.query;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      assertObjectKey(key);
      const deleted = await objects.delete(createObjectName(bucket, key, versionId), {}, { origin: originOf(request) });
      return envelope('Object deleted', toDeletedView(key, deleted));
    },
  );

  app.post(
    '/buckets/:name/objects/delete',
    {
      config: { action: 'object:delete', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Delete up to 1,000 objects; each succeeds or fails on its own',
        params: bucketParams,
        querystring: teamQuery,
        body: deleteManyBody,
        response: { 200: createEnvelopeSchema(deleteManyView) },
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const names: readonly Name[] = request.body.objects ?? (request.body.keys ?? []).map((key) => ({ key }));
      const outcomes: Outcome[] = [];
      const origin = originOf(request);
      const remove = async ({ key, version_id: versionId }: Name): Promise<Outcome> => {
        try {
          assertObjectKey(key);
          const deleted = await objects.delete(createObjectName(bucket, key, versionId), {}, { origin });
          return { deleted: toDeletedView(key, deleted) };
        } catch (error) {
          if (!isAppError(error) || error.status >= 500) throw error;
          return { error: { key, version_id: versionId ?? null, code: error.code, message: error.message } };
        }
      };
      for (let start = 0; start < names.length; start += AT_A_TIME) {
        outcomes.push(...(await Promise.all(names.slice(start, start + AT_A_TIME).map(remove))));
      }
      return envelope('Objects deleted', {
        deleted: outcomes.flatMap((outcome) => ('deleted' in outcome ? [outcome.deleted] : [])),
        errors: outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : [])),
      });
    },
  );
}

function createObjectName(bucket: BucketRecord, key: string, versionId: string | undefined): ObjectName {
  return { bucket, key, ...(versionId === undefined ? {} : { versionId }) };
}

function toDeletedView(key: string, deleted: DeletedObject): Static<typeof deletedView> {
  return { key, deleted: true, delete_marker: deleted.deleteMarker, version_id: deleted.versionId };
}
