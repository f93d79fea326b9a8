import { defineOperation, type ObjectHandler } from '../operation.ts';
import { storeErrors } from '../../errors.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { ObjectChecksum } from '../../domain/ports/records.ts';
import { findObject } from '../access/find-object.ts';
import { assertNoEncryptionRequest, encryptionHeaders, readCustomerKey } from '../encryption-headers.ts';
import { checksumElements, versionHeaders } from '../object-headers.ts';
import { readLimitText } from '../page-parameters.ts';
import { respondXml, setHeaders } from '../respond.ts';
import type { S3Context } from '../s3-context.ts';
import type { XmlNode } from '../xml-writer.ts';
import { toHttpDate } from '../../domain/http-date.ts';

const WANTED = 'x-amz-object-attributes';
const ATTRIBUTES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const;
type Attribute = (typeof ATTRIBUTES)[number];

/** Returns the requested attributes of a version, without its bytes. Lists parts page by page. */
const getObjectAttributes: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const { bucket } = context;
  const wanted = readWanted(request.headers.get(WANTED));
  const found = await findObject(context);
  assertNoEncryptionRequest(request.headers);
  const customerKey = readCustomerKey(context);
  const { version } = found;
  const { encryption } = version.attributes;
  await services.encryption.open(encryption, customerKey); // without the key, reveal nothing
  setHeaders(response, {
    'last-modified': toHttpDate(version.modifiedAtMs),
    ...versionHeaders(bucket, version.versionId),
    ...encryptionHeaders(encryption, customerKey),
  });
  const parts = wanted.has('ObjectParts') ? await objectParts(context, found) : null;
  respondXml(response, 'GetObjectAttributesResponse', {
    ETag: wanted.has('ETag') ? version.etag : null,
    Checksum: wanted.has('Checksum') && version.checksum !== null ? checksumElements(version.checksum) : null,
    ObjectParts: parts,
    StorageClass: wanted.has('StorageClass') ? (version.attributes.storageClass ?? 'STANDARD') : null,
    ObjectSize: wanted.has('ObjectSize') ? version.sizeBytes : null,
  });
};

function readWanted(header: string | undefined): ReadonlySet<Attribute> {
  const names = (header ?? '').split(',').map((name) => name.trim());
  const wanted = new Set<Attribute>();
  for (const name of names.filter((candidate) => candidate !== '')) {
    const known = ATTRIBUTES.find((attribute) => attribute === name);
    if (known === undefined) {
      throw storeErrors.InvalidArgument({ details: { reason: 'Invalid attribute name specified.', field: WANTED } });
    }
    wanted.add(known);
  }
  if (wanted.size > 0) return wanted;
  const reason = `The ${WANTED} header specifying the attributes to be retrieved is either missing or empty`;
  throw storeErrors.InvalidRequest({ details: { reason } });
}

/** A page of the parts of a multipart object. Null for an object uploaded in one piece. */
async function objectParts({ request, services }: S3Context, { version }: FoundObject): Promise<XmlNode | null> {
  if (version.location.kind !== 'manifest') return null;
  const { metadata, config } = services.deps;
  const limit = readLimitText(request.headers.get('x-amz-max-parts'), 'x-amz-max-parts', config.limits.list_keys);
  const marker = request.headers.get('x-amz-part-number-marker') ?? '0';
  const after = readLimitText(marker, 'x-amz-part-number-marker', Number.MAX_SAFE_INTEGER);
  const { manifestId } = version.location;
  const found = await metadata.listParts({ uploadId: manifestId, afterPartNumber: after, limit: limit + 1 });
  const page = found.slice(0, limit);
  return {
    PartsCount: version.partCount ?? 0,
    PartNumberMarker: after,
    NextPartNumberMarker: page.at(-1)?.partNumber ?? 0,
    MaxParts: limit,
    IsTruncated: found.length > limit,
    Part: page.map((part) => ({
      PartNumber: part.partNumber,
      Size: part.sizeBytes,
      ...partChecksum(part.checksum, version.checksum),
    })),
  };
}

/** Reported only for the upload's own algorithm; any other checksum is internal. */
function partChecksum(part: ObjectChecksum | null, object: ObjectChecksum | null): Record<string, string> {
  if (part === null || part.algorithm !== object?.algorithm) return {};
  return { [`Checksum${part.algorithm}`]: part.value };
}

export const objectAttributesOperations = [
  defineOperation({
    name: 'GetObjectAttributes',
    on: 'object',
    method: 'GET',
    subresource: 'attributes',
    action: 's3:GetObjectAttributes',
    versionAction: 's3:GetObjectVersionAttributes',
    asks: 'object',
    acl: { on: 'object', permission: 'READ' },
    needs: 'object:read',
    handle: getObjectAttributes,
  }),
];
