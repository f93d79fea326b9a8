import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { assertObjectKey } from '../../domain/object-key.ts';
import type { VersionSummary } from '../../domain/ports/version-listing.ts';
import { envelope, toTimestamp } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, createQuerySchema, TAGS } from '../schemas.ts';
import { keyText, listingView, versionsView } from './object-schemas.ts';
import { toObjectView } from './object-view.ts';

const cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: 'From the previous page' }));
const prefix = Type.Optional(Type.String({ maxLength: 1_024 }));
const delimiter = Type.Optional(Type.String({ maxLength: 16, description: 'Typically `/`' }));

/** Lists objects as folders, and the versions of one object or many. */
export function registerListRoutes(app: HttpApp, { services, cursors }: ManagementDeps): void {
  const { buckets, objects, deps } = services;
  const mostKeys = deps.config.limits.list_keys;
  const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: mostKeys }));
  const route = { tags: TAGS, params: bucketParams };

  app.get(
    '/buckets/:name/objects',
    {
      config: { action: 'object:list' },
      schema: {
        ...route,
        summary: 'List objects in key order',
        querystring: createQuerySchema({ prefix, delimiter, cursor, limit, start_after: Type.Optional(keyText) }),
        response: { 200: createEnvelopeSchema(listingView) },
      },
    },
    async (request) => {
      const { query } = request;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const scope = `objects/${bucket.id}`;
      const [after = ''] = query.cursor === undefined ? [query.start_after] : cursors.open(scope, query.cursor);
      const page = await objects.list(bucket, {
        prefix: query.prefix ?? '',
        delimiter: query.delimiter ?? '',
        after,
        limit: query.limit ?? mostKeys,
        detailed: true,
      });
      return envelope('Objects', {
        objects: page.objects.map((object) => toObjectView(object, bucket)),
        prefixes: [...page.commonPrefixes],
        cursor: page.next === null ? null : cursors.seal(scope, [page.next]),
        truncated: page.truncated,
        key_count: page.objects.length + page.commonPrefixes.length,
      });
    },
  );

  app.get(
    '/buckets/:name/objects/versions',
    {
      config: { action: 'object:list' },
      schema: {
        ...route,
        summary: 'List versions and delete markers, newest first within each key',
        description: '`key` lists one object; otherwise all keys below `prefix` are listed',
        querystring: createQuerySchema({ key: Type.Optional(keyText), prefix, delimiter, cursor, limit }),
        response: { 200: createEnvelopeSchema(versionsView) },
      },
    },
    async (request) => {
      const { query } = request;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      if (query.key !== undefined) assertObjectKey(query.key);
      const scope = `versions/${bucket.id}`;
      const [afterKey = '', afterVersionId = ''] = query.cursor === undefined ? [] : cursors.open(scope, query.cursor);
      const page = await objects.listVersions(bucket, {
        prefix: query.key ?? query.prefix ?? '',
        delimiter: query.key === undefined ? (query.delimiter ?? '') : '',
        afterKey,
        afterVersionId,
        limit: query.limit ?? mostKeys,
      });
      // The versions of a key come before those of any longer key with the same prefix.
      const shown = page.versions.filter(({ key }) => query.key === undefined || key === query.key);
      const goesOn = page.truncated && shown.length === page.versions.length;
      return envelope('Versions', {
        versions: shown.map(toVersionView),
        prefixes: [...page.commonPrefixes],
        cursor: goesOn ? cursors.seal(scope, [page.nextKey ?? '', page.nextVersionId ?? '']) : null,
        truncated: goesOn,
      });
    },
  );
}

function toVersionView(version: VersionSummary) {
  return {
    key: version.key,
    version_id: version.versionId,
    is_latest: version.isLatest,
    delete_marker: version.deleteMarker,
    size: version.sizeBytes,
    etag: version.deleteMarker ? null : version.etag,
    last_modified: toTimestamp(version.modifiedAtMs),
  };
}
