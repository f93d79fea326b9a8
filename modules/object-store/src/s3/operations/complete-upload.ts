import { defineOperation, type ObjectHandler } from '../operation.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import { CHECKSUM_ALGORITHMS, checksumHeaderName, isBase64 } from '../../domain/checksums/algorithms.ts';
import type { CustomerKey } from '../../domain/encryption/key-envelope.ts';
import { storeErrors } from '../../errors.ts';
import type { CompletedPart, ExpectedObject } from '../../domain/ports/upload-commands.ts';
import type { UploadRecord } from '../../domain/ports/records.ts';
import { assertMayComplete } from '../access/new-object-acl.ts';
import { announcedAlgorithm } from '../body/body-plan.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { encryptionHeaders, readCustomerKey } from '../encryption-headers.ts';
import { checksumElements, newVersionHeaders } from '../object-headers.ts';
import { createObjectUrl } from '../object-url.ts';
import { parseWriteConditions } from '../request-conditions.ts';
import type { RequestHeaders } from '../request-headers.ts';
import { respondXml, setHeaders } from '../respond.ts';
import { originOf, type S3Context } from '../s3-context.ts';
import { children, childText, parseXml, type XmlElement } from '../xml-reader.ts';
import { readUploadName } from './multipart.ts';

/** Ten thousand parts with a checksum each. */
const MAX_COMPLETION_BYTES = 4 * 1024 * 1024;

const completeMultipartUpload: ObjectHandler = async (context) => {
  const { request, response, caller, services } = context;
  const name = readUploadName(context);
  const expected = readExpected(request.headers);
  const upload = await services.deps.metadata.findUpload({ ...name, bucketId: name.bucket.id });
  // Null if it is already completed or never existed; `complete` distinguishes these.
  if (upload !== null) assertMayComplete(upload, caller, name.bucket);
  const customerKey = await readKeyOfUpload(context, upload);
  // The checksum header describes the object, not this document.
  const document = await receiveDocument(context, MAX_COMPLETION_BYTES, { checksumOfAnother: true });
  const { parts: mostParts } = services.deps.config.limits;
  const root = parseXml(document, 'CompleteMultipartUpload');
  const parts = children(root, 'Part').map((element) => readPart(element));
  if (parts.length === 0 || parts.length > mostParts) throw storeErrors.MalformedXML();
  const stored = await services.multipart.complete({
    ...name,
    parts,
    conditions: parseWriteConditions(request.headers),
    expected,
    origin: originOf(context),
  });
  setHeaders(response, {
    ...newVersionHeaders(stored.versionId),
    ...encryptionHeaders(stored.encryption, customerKey),
  });
  respondXml(response, 'CompleteMultipartUploadResult', {
    Location: createObjectUrl(request, name.bucket.name, name.key),
    Bucket: name.bucket.name,
    Key: name.key,
    ETag: `"${stored.etag}"`,
    ...checksumElements(stored.checksum),
  });
};

/**
 * Reads the customer's key. An SSE-C upload with checksums requires it; a key that is sent must be the right one in any
 * case.
 */
async function readKeyOfUpload(context: S3Context, upload: UploadRecord | null): Promise<CustomerKey | null> {
  const customerKey = readCustomerKey(context);
  if (upload === null) return customerKey;
  const { encryption } = upload.attributes;
  const needsKey = encryption?.mode === 'sse-c' && upload.checksumAlgorithm !== null;
  if (needsKey || customerKey !== null) await context.services.encryption.open(encryption, customerKey);
  return customerKey;
}

function readExpected(headers: RequestHeaders): ExpectedObject {
  const algorithm = announcedAlgorithm(headers);
  const name = algorithm === null ? '' : checksumHeaderName(algorithm);
  const value = headers.get(name) ?? '';
  if (algorithm !== null && !isBase64(value.replace(/-\d{1,5}$/, ''))) throw invalidHeader(name);
  const checksumType = headers.get('x-amz-checksum-type')?.toUpperCase();
  if (checksumType !== undefined && checksumType !== 'COMPOSITE' && checksumType !== 'FULL_OBJECT') {
    throw invalidHeader('x-amz-checksum-type');
  }
  const size = headers.get('x-amz-mp-object-size');
  if (size !== undefined && !/^-?\d{1,15}$/.test(size)) throw invalidHeader('x-amz-mp-object-size');
  if (size?.startsWith('-') === true) {
    throw invalid(`Value for x-amz-mp-object-size header is less than zero: '${size}'`);
  }
  return {
    ...(algorithm === null ? {} : { checksum: { algorithm, value } }),
    ...(checksumType === undefined ? {} : { checksumType }),
    ...(size === undefined ? {} : { sizeBytes: Number(size) }),
  };
}

function readPart(element: XmlElement): CompletedPart {
  const number = childText(element, 'PartNumber')?.trim() ?? '';
  const etag = childText(element, 'ETag')?.trim().replaceAll('"', '');
  if (!/^-?\d{1,9}$/.test(number) || etag === undefined) throw storeErrors.MalformedXML();
  const partNumber = Number(number);
  if (partNumber < 1) throw storeErrors.InvalidArgument({ details: { reason: 'PartNumber must be >= 1' } });
  const given = CHECKSUM_ALGORITHMS.map((checksumAlgorithm) => {
    return { checksumAlgorithm, checksum: childText(element, `Checksum${checksumAlgorithm}`)?.trim() ?? '' };
  });
  const [first, ...others] = given.filter(({ checksum }) => checksum !== '');
  if (first === undefined) return { partNumber, etag };
  if (others.length > 0 || !isBase64(first.checksum)) {
    const reason = 'Invalid Base64 or multiple checksums present in request';
    throw storeErrors.InvalidArgument({ details: { reason, argumentName: 'Checksum' } });
  }
  return { partNumber, etag, ...first };
}

function invalidHeader(name: string): Error {
  return invalid(`Value for ${name} header is invalid.`);
}

function invalid(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

export const completeUploadOperations = [
  defineOperation({
    name: 'CompleteMultipartUpload',
    on: 'object',
    method: 'POST',
    subresource: 'uploadId',
    ...WRITE_OBJECT,
    handle: completeMultipartUpload,
  }),
];
