import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import type { StoreServices } from '../../domain/services.ts';
import type { EventOrigin } from '../../domain/ports/notifications.ts';
import type { StoredVersion } from '../../domain/ports/records.ts';
import type { BucketRecord, ObjectAttributes, ObjectVersion } from '../../domain/ports/records.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, closed, createEnvelopeSchema, TAGS, teamQuery } from '../schemas.ts';
import { encodeKey, publicUrl } from '../url-routes.ts';
import { originOf } from './event-origin.ts';
import { keyText, storedView, versionIdText } from './object-schemas.ts';
import { toStoredView } from './object-view.ts';

const restoreBody = Type.Object({ key: keyText, version_id: versionIdText }, closed);

/** Restores a noncurrent version as the current one. */
export function registerVersionRoutes(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;

  app.post(
    '/buckets/:name/objects/versions/restore',
    {
      config: { action: 'object:write', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Restore an older version of an object',
        description:
          'Creates a new version with the metadata and tags of the older one. The copy shares its stored bytes and ' +
          'has the access of a new upload; all other versions stay. A delete marker cannot be restored: delete it ' +
          'by its ID, and the version below it becomes the latest.',
        params: bucketParams,
        querystring: teamQuery,
        body: restoreBody,
        response: { 200: createEnvelopeSchema(storedView) },
      },
    },
    async (request) => {
      const { key, version_id: versionId } = request.body;
      const bucket = await services.buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      assertObjectKey(key);
      const { stored, contentType } = await restoreVersion(services, { bucket, key, versionId }, originOf(request));
      return envelope(
        'Version restored',
        toStoredView({ bucket, key, contentType, stored, url: publicUrl(management, request, bucket, encodeKey(key)) }),
      );
    },
  );
}

async function restoreVersion(
  services: StoreServices,
  name: { bucket: BucketRecord; key: string; versionId: string },
  origin: EventOrigin,
): Promise<{ stored: StoredVersion; contentType: string }> {
  const { bucket, key } = name;
  const source = await services.objects.find(name);
  const { contentType } = source.version.attributes;
  if (source.version.isLatest) return { stored: source.version, contentType };
  const { retention } = (await defaultProtection(services, bucket)).attributes;
  const { stored } = await services.copies.object({
    source,
    customerKey: null,
    bucket,
    key,
    attributes: { ...contentAttributes(source.version), ...(retention === undefined ? {} : { retention }) },
    checksumAlgorithm: null,
    encryption: {},
    conditions: {},
    origin,
  });
  return { stored, contentType };
}

/** Attributes of the content. Access and retention of the copy are decided anew. */
function contentAttributes({ attributes }: ObjectVersion): ObjectAttributes {
  const { accessControlList: _, retention: __, legalHold: ___, encryption: ____, ...kept } = attributes;
  return kept;
}
