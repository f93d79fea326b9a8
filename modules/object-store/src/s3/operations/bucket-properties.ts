import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import type { S3Handler } from '../s3-context.ts';
import { childText, children, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 16 * 1024;

/** What is the same for every bucket here. Asking for it is answered; asking for anything else is refused by name. */
export const getBucketRequestPayment: S3Handler = async ({ response }) => {
  respondXml(response, 'RequestPaymentConfiguration', { Payer: 'BucketOwner' });
};

export const putBucketRequestPayment: S3Handler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'RequestPaymentConfiguration');
  const payer = childText(root, 'Payer');
  if (payer === 'Requester') throw notImplemented('Requester pays');
  if (payer !== 'BucketOwner') throw storeErrors.MalformedXML();
  respondEmpty(context.response, 200);
};

/** Nothing is accelerated, and AWS says so by an empty answer. */
export const getBucketAccelerateConfiguration: S3Handler = async ({ response }) => {
  respondXml(response, 'AccelerateConfiguration', {});
};

export const putBucketAccelerateConfiguration: S3Handler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'AccelerateConfiguration');
  const status = childText(root, 'Status');
  if (status === 'Enabled') throw notImplemented('Transfer acceleration');
  if (status !== 'Suspended') throw storeErrors.MalformedXML();
  respondEmpty(context.response, 200);
};

/** No access logs are written to buckets. */
export const getBucketLogging: S3Handler = async ({ response }) => {
  respondXml(response, 'BucketLoggingStatus', {});
};

export const putBucketLogging: S3Handler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'BucketLoggingStatus');
  if (children(root, 'LoggingEnabled').length > 0) throw notImplemented('Server access logging');
  respondEmpty(context.response, 200);
};

function notImplemented(operation: string): Error {
  return storeErrors.NotImplemented({ details: { operation } });
}
