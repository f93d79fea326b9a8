import type { AppError } from '@svc/errors';
import { xmlDocument, type XmlNode } from './xml-writer.ts';

/** Details of ours that AWS puts into the error document too, under its names. */
const ELEMENTS: Readonly<Record<string, string>> = {
  accessKeyId: 'AWSAccessKeyId',
  header: 'Header',
  headersNotSigned: 'HeadersNotSigned',
  key: 'Key',
  maxSizeAllowed: 'MaxSizeAllowed',
  minSizeAllowed: 'MinSizeAllowed',
  operation: 'Operation',
  partNumber: 'PartNumber',
  proposedSize: 'ProposedSize',
  region: 'Region',
  requestTime: 'RequestTime',
  serverTime: 'ServerTime',
  uploadId: 'UploadId',
  versionId: 'VersionId',
};

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
  const Message = error.code === 'AccessDenied' && typeof reason === 'string' ? reason : error.message;
  return { Code: error.code, Message };
}
