import type { AppError } from '@svc/errors';
import { isStoreErrorCode, storeErrors } from '../errors.ts';
import { xmlDocument, type XmlNode } from './xml-writer.ts';

/** Error details that AWS also puts into the error document, and their element names. */
const ELEMENTS: Readonly<Record<string, string>> = {
  accessKeyId: 'AWSAccessKeyId',
  argumentName: 'ArgumentName',
  argumentValue: 'ArgumentValue',
  badChunkSize: 'BadChunkSize',
  calculatedDigest: 'CalculatedDigest',
  canonicalRequest: 'CanonicalRequest',
  chunk: 'Chunk',
  condition: 'Condition',
  claimedSha256: 'ClientComputedContentSHA256',
  computedSha256: 'S3ComputedContentSHA256',
  expectedDigest: 'ExpectedDigest',
  expires: 'Expires',
  expiresSeconds: 'X-Amz-Expires',
  header: 'Header',
  headersNotSigned: 'HeadersNotSigned',
  key: 'Key',
  maxSizeAllowed: 'MaxSizeAllowed',
  maxSkewMs: 'MaxAllowedSkewMilliseconds',
  method: 'Method',
  minSizeAllowed: 'MinSizeAllowed',
  missingHeader: 'MissingHeaderName',
  operation: 'Operation',
  partNumber: 'PartNumber',
  proposedSize: 'ProposedSize',
  region: 'Region',
  requestTime: 'RequestTime',
  resourceType: 'ResourceType',
  serverTime: 'ServerTime',
  signatureProvided: 'SignatureProvided',
  stringToSign: 'StringToSign',
  uploadId: 'UploadId',
  versionId: 'VersionId',
};

const AS_BYTES: ReadonlySet<string> = new Set(['StringToSign', 'CanonicalRequest']);

/** Codes for which S3 replaces the default message with the specific reason. */
const WITH_REASON: ReadonlySet<string> = new Set([
  'AccessDenied',
  'BadDigest',
  'IncompleteBody',
  'InvalidBucketState',
  'NotImplemented',
]);

export interface ErrorPlace {
  requestId: string;
  /** Path of the request, without the query. */
  resource: string;
}

/** Renders an error as S3 does: `<Error>` with Code, Message, details, Resource and RequestId. */
export function errorDocument(error: AppError, place: ErrorPlace): string {
  const known = codeAndMessage(error);
  const details: Record<string, string | number> = {};
  for (const [name, element] of Object.entries(ELEMENTS)) {
    const value = error.details[name];
    if (typeof value === 'string' || typeof value === 'number') details[element] = value;
    // Signed strings are also listed byte by byte: a difference may be invisible in the text.
    if (typeof value === 'string' && AS_BYTES.has(element)) details[`${element}Bytes`] = spelled(value);
  }
  const content: XmlNode = { ...known, ...details, Resource: place.resource, RequestId: place.requestId };
  return xmlDocument('Error', content, { namespace: false });
}

/** Errors outside the catalogue have no S3 code: they are internal and reveal no details, or temporary. */
function codeAndMessage(error: AppError): { Code: string; Message: string } {
  if (error.status === 503 && !isStoreErrorCode(error.code)) {
    return { Code: 'ServiceUnavailable', Message: storeErrors.entries.ServiceUnavailable[1] };
  }
  if (error.code === 'internal_error') {
    return { Code: 'InternalError', Message: 'We encountered an internal error. Please try again.' };
  }
  const { reason } = error.details;
  const Message = WITH_REASON.has(error.code) && typeof reason === 'string' ? reason : error.message;
  return { Code: error.code, Message };
}

/** Hex bytes separated by spaces, such as `61 62`. */
function spelled(text: string): string {
  return Buffer.from(text)
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ');
}
