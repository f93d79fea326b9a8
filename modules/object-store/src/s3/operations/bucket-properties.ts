import { defineOperation, type BucketHandler } from '../operation.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { childText, children, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 16 * 1024;

/**
 * The following properties are the same for every bucket. Requests for that value succeed; requests for any other are
 * rejected by name.
 */
const getBucketRequestPayment: BucketHandler = async ({ response }) => {
  respondXml(response, 'RequestPaymentConfiguration', { Payer: 'BucketOwner' });
};

const putBucketRequestPayment: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'RequestPaymentConfiguration');
  const payer = childText(root, 'Payer');
  if (payer === 'Requester') throw notImplemented('Requester pays');
  if (payer !== 'BucketOwner') throw storeErrors.MalformedXML();
  respondEmpty(context.response, 200);
};

/** Acceleration is not supported; like AWS, report that with an empty response. */
const getBucketAccelerateConfiguration: BucketHandler = async ({ response }) => {
  respondXml(response, 'AccelerateConfiguration', {});
};

const putBucketAccelerateConfiguration: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'AccelerateConfiguration');
  const status = childText(root, 'Status');
  if (status === 'Enabled') throw notImplemented('Transfer acceleration');
  if (status !== 'Suspended') throw storeErrors.MalformedXML();
  respondEmpty(context.response, 200);
};

/** Access logs are never written to buckets. */
const getBucketLogging: BucketHandler = async ({ response }) => {
  respondXml(response, 'BucketLoggingStatus', {});
};

const putBucketLogging: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'BucketLoggingStatus');
  if (children(root, 'LoggingEnabled').length > 0) throw notImplemented('Server access logging');
  respondEmpty(context.response, 200);
};

function notImplemented(operation: string): Error {
  return storeErrors.NotImplemented({ details: { operation } });
}

export const bucketPropertiesOperations = [
  defineOperation({
    name: 'GetBucketRequestPayment',
    on: 'bucket',
    method: 'GET',
    subresource: 'requestPayment',
    action: 's3:GetBucketRequestPayment',
    needs: 'bucket:read',
    handle: getBucketRequestPayment,
  }),
  defineOperation({
    name: 'PutBucketRequestPayment',
    on: 'bucket',
    method: 'PUT',
    subresource: 'requestPayment',
    action: 's3:PutBucketRequestPayment',
    needs: 'bucket:update',
    handle: putBucketRequestPayment,
  }),
  defineOperation({
    name: 'GetBucketAccelerateConfiguration',
    on: 'bucket',
    method: 'GET',
    subresource: 'accelerate',
    action: 's3:GetAccelerateConfiguration',
    needs: 'bucket:read',
    handle: getBucketAccelerateConfiguration,
  }),
  defineOperation({
    name: 'PutBucketAccelerateConfiguration',
    on: 'bucket',
    method: 'PUT',
    subresource: 'accelerate',
    action: 's3:PutAccelerateConfiguration',
    needs: 'bucket:update',
    handle: putBucketAccelerateConfiguration,
  }),
  defineOperation({
    name: 'GetBucketLogging',
    on: 'bucket',
    method: 'GET',
    subresource: 'logging',
    action: 's3:GetBucketLogging',
    needs: 'bucket:read',
    handle: getBucketLogging,
  }),
  defineOperation({
    name: 'PutBucketLogging',
    on: 'bucket',
    method: 'PUT',
    subresource: 'logging',
    action: 's3:PutBucketLogging',
    needs: 'bucket:update',
    handle: putBucketLogging,
  }),
];
