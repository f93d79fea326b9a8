import { defineOperation, type BucketHandler } from '../operation.ts';
import { storeErrors } from '../../errors.ts';
import type { VersionSummary } from '../../domain/ports/version-listing.ts';
import { readEncoding, readLimit, toIsoDate } from '../page-parameters.ts';
import { respondXml } from '../respond.ts';
import type { XmlNode } from '../xml-writer.ts';
import { renderOwner } from './listings.ts';

const listObjectVersions: BucketHandler = async (context) => {
  const { request, response, services } = context;
  const { query } = request;
  const { bucket } = context;
  const encode = readEncoding(query);
  const limit = readLimit(query, 'max-keys', services.deps.config.limits.list_keys);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const [afterKey, afterVersionId] = readMarkers(query);
  const page =
    limit === 0
      ? { versions: [], commonPrefixes: [], truncated: false, nextKey: null, nextVersionId: null }
      : await services.objects.listVersions(bucket, { prefix, delimiter, afterKey, afterVersionId, limit });
  const owner = renderOwner(context);
  respondXml(response, 'ListVersionsResult', {
    Name: bucket.name,
    Prefix: encode(prefix),
    KeyMarker: encode(afterKey),
    VersionIdMarker: afterVersionId,
    ...(page.nextKey === null ? {} : { NextKeyMarker: encode(page.nextKey) }),
    ...(page.nextVersionId === null ? {} : { NextVersionIdMarker: page.nextVersionId }),
    ...(delimiter === '' ? {} : { Delimiter: encode(delimiter) }),
    MaxKeys: limit,
    ...(query.has('encoding-type') ? { EncodingType: 'url' } : {}),
    IsTruncated: page.truncated,
    Version: page.versions
      .filter((version) => !version.deleteMarker)
      .map((version) => ({ ...toPlace(version, encode), ...toContent(version), ...owner })),
    DeleteMarker: page.versions
      .filter((version) => version.deleteMarker)
      .map((version) => ({ ...toPlace(version, encode), ...owner })),
    CommonPrefixes: page.commonPrefixes.map((common) => ({ Prefix: encode(common) })),
  });
};

function readMarkers(query: { get(name: string): string | undefined }): [key: string, versionId: string] {
  const [key, versionId] = [query.get('key-marker') ?? '', query.get('version-id-marker')];
  if (versionId === '') {
    throw storeErrors.InvalidArgument({ details: { reason: 'A version-id marker cannot be empty.' } });
  }
  if (versionId !== undefined && key === '') {
    const reason = 'A version-id marker cannot be specified without a key marker.';
    throw storeErrors.InvalidArgument({ details: { reason } });
  }
  return [key, versionId ?? ''];
}

function toPlace(version: VersionSummary, encode: (key: string) => string): XmlNode {
  return {
    Key: encode(version.key),
    VersionId: version.versionId,
    IsLatest: version.isLatest,
    LastModified: toIsoDate(version.modifiedAtMs),
  };
}

function toContent({ etag, sizeBytes, checksum }: VersionSummary): XmlNode {
  return {
    ETag: `"${etag}"`,
    ...(checksum === null ? {} : { ChecksumAlgorithm: checksum.algorithm, ChecksumType: checksum.type }),
    Size: sizeBytes,
    StorageClass: 'STANDARD',
  };
}

export const versionListingOperations = [
  defineOperation({
    name: 'ListObjectVersions',
    on: 'bucket',
    method: 'GET',
    subresource: 'versions',
    action: 's3:ListBucketVersions',
    acl: { on: 'bucket', permission: 'READ' },
    needs: 'object:list',
    handle: listObjectVersions,
  }),
];
