import { defineOperation, type BucketHandler, type ObjectHandler } from '../operation.ts';
import { parseAcl } from '../../domain/access/access-control-list.ts';
import type { UploadRecord } from '../../domain/ports/records.ts';
import { readEncoding, readLimit, toIsoDate } from '../page-parameters.ts';
import { ownerElement } from '../owner-element.ts';
import { respondXml } from '../respond.ts';
import type { XmlNode } from '../xml-writer.ts';
import { readUploadName } from './multipart.ts';

const listParts: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const { query } = request;
  const name = readUploadName(context);
  const encode = readEncoding(query);
  const upload = await services.multipart.get(name);
  const limit = readLimit(query, 'max-parts', services.deps.config.limits.list_keys);
  const marker = readLimit(query, 'part-number-marker', Number.MAX_SAFE_INTEGER);
  const after = query.has('part-number-marker') ? marker : 0;
  const found = await services.multipart.listParts(name, { after, limit: limit + 1 });
  const page = found.slice(0, limit);
  respondXml(response, 'ListPartsResult', {
    Bucket: name.bucket.name,
    Key: encode(name.key),
    UploadId: name.uploadId,
    ...renderPeople(upload, name.bucket.workspaceUuid),
    StorageClass: upload.attributes.storageClass ?? 'STANDARD',
    PartNumberMarker: after,
    NextPartNumberMarker: page.at(-1)?.partNumber ?? 0,
    MaxParts: limit,
    IsTruncated: found.length > limit,
    ChecksumAlgorithm: upload.checksumAlgorithm,
    ChecksumType: upload.checksumType,
    Part: page.map((part) => ({
      PartNumber: part.partNumber,
      LastModified: toIsoDate(part.modifiedAtMs),
      ETag: `"${part.etag}"`,
      Size: part.sizeBytes,
      ...(part.checksum === null ? {} : { [`Checksum${part.checksum.algorithm}`]: part.checksum.value }),
    })),
  });
};

const listMultipartUploads: BucketHandler = async (context) => {
  const { request, response, services } = context;
  const { query } = request;
  const { bucket } = context;
  const encode = readEncoding(query);
  const limit = readLimit(query, 'max-uploads', services.deps.config.limits.list_keys);
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const [afterKey, afterUploadId] = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? ''];
  const page = await services.multipart.listUploads(bucket, { prefix, delimiter, afterKey, afterUploadId, limit });
  respondXml(response, 'ListMultipartUploadsResult', {
    Bucket: bucket.name,
    KeyMarker: encode(afterKey),
    UploadIdMarker: afterUploadId,
    ...(page.nextKey === null ? {} : { NextKeyMarker: encode(page.nextKey), NextUploadIdMarker: page.nextUploadId }),
    Prefix: encode(prefix),
    ...(delimiter === '' ? {} : { Delimiter: encode(delimiter) }),
    ...(query.has('encoding-type') ? { EncodingType: 'url' } : {}),
    MaxUploads: limit,
    IsTruncated: page.truncated,
    Upload: page.uploads.map((upload) => toUpload(upload, encode, bucket.workspaceUuid)),
    CommonPrefixes: page.commonPrefixes.map((common) => ({ Prefix: encode(common) })),
  });
};

function toUpload(upload: UploadRecord, encode: (key: string) => string, workspaceUuid: string): XmlNode {
  return {
    Key: encode(upload.key),
    UploadId: upload.uploadId,
    ...renderPeople(upload, workspaceUuid),
    StorageClass: upload.attributes.storageClass ?? 'STANDARD',
    Initiated: toIsoDate(upload.initiatedAtMs),
    ChecksumAlgorithm: upload.checksumAlgorithm,
    ChecksumType: upload.checksumType,
  };
}

/** The initiator of the upload and the future owner of the object. */
function renderPeople({ initiator, attributes }: UploadRecord, bucketOwner: string): XmlNode {
  const list = attributes.accessControlList;
  return {
    Initiator: initiator.includes('-') ? ownerElement(initiator) : { ID: initiator, DisplayName: initiator },
    Owner: ownerElement(list === undefined ? bucketOwner : parseAcl(list).owner),
  };
}

export const multipartListingsOperations = [
  defineOperation({
    name: 'ListMultipartUploads',
    on: 'bucket',
    method: 'GET',
    subresource: 'uploads',
    action: 's3:ListBucketMultipartUploads',
    acl: { on: 'bucket', permission: 'READ' },
    needs: 'object:list',
    handle: listMultipartUploads,
  }),
  defineOperation({
    name: 'ListParts',
    on: 'object',
    method: 'GET',
    subresource: 'uploadId',
    action: 's3:ListMultipartUploadParts',
    asks: 'key',
    acl: { on: 'bucket', permission: 'WRITE' },
    needs: 'object:list',
    handle: listParts,
  }),
];
