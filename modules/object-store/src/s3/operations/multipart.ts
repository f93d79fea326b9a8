import { defineOperation, type ObjectHandler } from '../operation.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import {
  canBeFullObject,
  parseChecksumAlgorithm,
  type ChecksumAlgorithm,
  type ChecksumType,
} from '../../domain/checksums/algorithms.ts';
import type { UploadName } from '../../domain/multipart-service.ts';
import { storeErrors } from '../../errors.ts';
import type { UploadRecord } from '../../domain/ports/records.ts';
import { aclOfNewObject } from '../access/new-object-acl.ts';
import { readBodyPlan, unsupportedChecksum } from '../body/body-plan.ts';
import { createRequestSource } from '../body/request-source.ts';
import { encryptionHeaders, readCustomerKey, readEncryptionRequest } from '../encryption-headers.ts';
import { readObjectLock } from '../object-lock-headers.ts';
import { readAttributes } from '../object-attributes.ts';
import { checksumHeaders } from '../object-headers.ts';
import type { RequestHeaders } from '../request-headers.ts';
import { respondEmpty, respondXml, setHeaders } from '../respond.ts';
import type { ObjectContext, S3Context } from '../s3-context.ts';

const createMultipartUpload: ObjectHandler = async (context) => {
  const { request, response, caller, services } = context;
  const { bucket } = context;
  const key = context.key;
  const checksum = readUploadChecksum(request.headers);
  const acl = await aclOfNewObject(context);
  const attributes = {
    ...readAttributes(request.headers, services.deps.config.limits.metadata_bytes),
    ...acl,
    ...(await readObjectLock(context)),
  };
  const wanted = readEncryptionRequest(context);
  const sealed = await services.encryption.forWrite(bucket, wanted);
  const uploadId = await services.multipart.create({
    bucket,
    key,
    initiator: caller.workspaceUuid ?? 'anonymous',
    attributes: sealed === null ? attributes : { ...attributes, encryption: sealed.encryption },
    checksumAlgorithm: checksum?.algorithm ?? null,
    checksumType: checksum?.type ?? null,
  });
  if (checksum !== null) {
    response.setHeader('x-amz-checksum-algorithm', checksum.algorithm);
    response.setHeader('x-amz-checksum-type', checksum.type);
  }
  setHeaders(response, encryptionHeaders(sealed?.encryption, wanted.customerKey));
  respondXml(response, 'InitiateMultipartUploadResult', { Bucket: bucket.name, Key: key, UploadId: uploadId });
};

const uploadPart: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const partNumber = readPartNumber(request.query.get('partNumber'), services.deps.config.limits.parts);
  const name = readUploadName(context);
  const upload = await services.multipart.get(name);
  assertSameAlgorithm(context, upload);
  const customerKey = readCustomerKey(context);
  const { encryption } = upload.attributes;
  const key = await services.encryption.open(encryption, customerKey);
  await using content = await services.content.store({
    source: createRequestSource(context),
    bucket: name.bucket,
    key,
    kind: 'part',
    algorithm: upload.checksumAlgorithm ?? 'CRC64NVME',
  });
  await services.multipart.putPart({ ...name, partNumber, content });
  const { 'x-amz-checksum-type': _, ...checksum } = checksumHeaders(content.checksum);
  respondEmpty(response, 200, {
    etag: `"${content.etag}"`,
    ...checksum,
    ...encryptionHeaders(encryption, customerKey),
  });
};

const abortMultipartUpload: ObjectHandler = async (context) => {
  await context.services.multipart.abort(readUploadName(context));
  respondEmpty(context.response, 204);
};

export function readUploadName(context: ObjectContext): UploadName {
  const uploadId = context.request.query.get('uploadId') ?? '';
  return { bucket: context.bucket, key: context.key, uploadId };
}

export function readPartNumber(text: string | undefined, limit: number): number {
  const partNumber = /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
  if (partNumber >= 1 && partNumber <= limit) return partNumber;
  const reason = `Part number must be an integer between 1 and ${limit}, inclusive.`;
  throw storeErrors.InvalidArgument({ details: { reason, field: 'partNumber' } });
}

function readUploadChecksum(headers: RequestHeaders): { algorithm: ChecksumAlgorithm; type: ChecksumType } | null {
  const name = headers.get('x-amz-checksum-algorithm');
  const type = headers.get('x-amz-checksum-type')?.toUpperCase();
  if (type !== undefined && type !== 'FULL_OBJECT' && type !== 'COMPOSITE') {
    throw invalid('Value for x-amz-checksum-type header is invalid.');
  }
  if (name === undefined) {
    if (type === undefined) return null;
    throw invalid('The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.');
  }
  const algorithm = parseChecksumAlgorithm(name);
  if (algorithm === null) throw unsupportedChecksum();
  if (type === undefined) return { algorithm, type: algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE' };
  if (type === 'FULL_OBJECT' && canBeFullObject(algorithm)) return { algorithm, type };
  if (type === 'COMPOSITE' && algorithm !== 'CRC64NVME') return { algorithm, type };
  throw invalid(`The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`);
}

function assertSameAlgorithm(context: S3Context, upload: UploadRecord): void {
  const { checksum } = readBodyPlan(context.request, context.payload);
  const { checksumAlgorithm: wanted, checksumType } = upload;
  if (wanted === null || checksum?.algorithm === wanted) return;
  // With a full-object checksum, the store computes part checksums that the client does not send.
  if (checksum === null && checksumType === 'FULL_OBJECT') return;
  const actual = checksum?.algorithm.toLowerCase() ?? 'null';
  throw invalid(
    `Checksum Type mismatch occurred, expected checksum Type: ${wanted.toLowerCase()}, actual checksum Type: ${actual}`,
  );
}

function invalid(reason: string): Error {
  return storeErrors.InvalidRequest({ details: { reason } });
}

export const multipartOperations = [
  defineOperation({
    name: 'CreateMultipartUpload',
    on: 'object',
    method: 'POST',
    subresource: 'uploads',
    ...WRITE_OBJECT,
    handle: createMultipartUpload,
  }),
  defineOperation({
    name: 'UploadPart',
    on: 'object',
    method: 'PUT',
    subresource: 'uploadId',
    ...WRITE_OBJECT,
    handle: uploadPart,
  }),
  defineOperation({
    name: 'AbortMultipartUpload',
    on: 'object',
    method: 'DELETE',
    subresource: 'uploadId',
    action: 's3:AbortMultipartUpload',
    asks: 'key',
    acl: { on: 'bucket', permission: 'WRITE' },
    needs: 'object:write',
    handle: abortMultipartUpload,
  }),
];
