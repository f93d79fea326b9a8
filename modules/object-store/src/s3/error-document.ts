import type { AppError } from '@svc/errors';
import { xmlDocument, type XmlNode } from './xml-writer.ts';

/** Details of ours that AWS puts into the error document too, under its names. */
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

/** Codes whose sentence S3 replaces by what was found. */
const WITH_REASON: ReadonlySet<string> = new Set([
  'AccessDenied',
  'BadDigest',
  'IncompleteBody',
  'InvalidBucketState',
  'NotImplemented',
]);

export interface ErrorPlace {
  requestId: string;
  /** The path of the request, without the query. */
  resource: string;
}

/** An error as S3 writes it: `<Error>` with Code, Message, what it is about, Resource and RequestId. */
export function errorDocument(error: AppError, place: ErrorPlace): string {
  const known = codeAndMessage(error);
  const details: Record<string, string | number> = {};
  for (const [name, element] of Object.entries(ELEMENTS)) {
    const value = error.details[name];
    if (typeof value === 'string' || typeof value === 'number') details[element] = value;
    // What was signed is told byte by byte as well: a difference there may not show.
    if (typeof value === 'string' && AS_BYTES.has(element)) details[`${element}Bytes`] = spelled(value);
  }
  const content: XmlNode = { ...known, ...details, Resource: place.resource, RequestId: place.requestId };
  return xmlDocument('Error', content, { namespace: false });
}

/** What is not of the catalogue is a fault of ours and says nothing about itself. */
function codeAndMessage(error: AppError): { Code: string; Message: string } {
  if (error.code === 'internal_error') {
    return { Code: 'InternalError', Message: 'We encountered an internal error. Please try again.' };
  }
  const { reason } = error.details;
  const Message = WITH_REASON.has(error.code) && typeof reason === 'string' ? reason : error.message;
  return { Code: error.code, Message };
}

/** `61 62`. */
function spelled(text: string): string {
  return Buffer.from(text)
    .toString('hex')
    .replaceAll(/(..)(?=.)/g, '$1 ');
}
