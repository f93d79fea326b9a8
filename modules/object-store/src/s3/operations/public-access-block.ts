import { defineOperation, type BucketHandler } from '../operation.ts';
import { parsePublicAccessBlock, type PublicAccessBlock } from '../../domain/access/public-access-block.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { childText, parseXml, type XmlElement } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 8 * 1024;

const getPublicAccessBlock: BucketHandler = async (context) => {
  const { bucket } = context;
  const configuration = await context.services.configurations.of(bucket);
  const document = configuration.text('public-access-block');
  if (document === null) {
    throw storeErrors.NoSuchPublicAccessBlockConfiguration({ details: { resource: bucket.name } });
  }
  const block = parsePublicAccessBlock(document);
  respondXml(context.response, 'PublicAccessBlockConfiguration', {
    BlockPublicAcls: block.blockPublicAcls,
    IgnorePublicAcls: block.ignorePublicAcls,
    BlockPublicPolicy: block.blockPublicPolicy,
    RestrictPublicBuckets: block.restrictPublicBuckets,
  });
};

const putPublicAccessBlock: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'PublicAccessBlockConfiguration');
  const block: PublicAccessBlock = {
    blockPublicAcls: flag(root, 'BlockPublicAcls'),
    ignorePublicAcls: flag(root, 'IgnorePublicAcls'),
    blockPublicPolicy: flag(root, 'BlockPublicPolicy'),
    restrictPublicBuckets: flag(root, 'RestrictPublicBuckets'),
  };
  await context.services.configurations.put(context.bucket, 'public-access-block', JSON.stringify(block));
  respondEmpty(context.response, 200);
};

const deletePublicAccessBlock: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'public-access-block', null);
  respondEmpty(context.response, 204);
};

/** Defaults to off. */
function flag(root: XmlElement, name: string): boolean {
  const text = (childText(root, name) ?? 'false').trim().toLowerCase();
  if (text !== 'true' && text !== 'false') throw storeErrors.MalformedXML();
  return text === 'true';
}

export const publicAccessBlockOperations = [
  defineOperation({
    name: 'GetPublicAccessBlock',
    on: 'bucket',
    method: 'GET',
    subresource: 'publicAccessBlock',
    action: 's3:GetBucketPublicAccessBlock',
    needs: 'bucket:read',
    handle: getPublicAccessBlock,
  }),
  defineOperation({
    name: 'PutPublicAccessBlock',
    on: 'bucket',
    method: 'PUT',
    subresource: 'publicAccessBlock',
    action: 's3:PutBucketPublicAccessBlock',
    needs: 'bucket:update',
    handle: putPublicAccessBlock,
  }),
  defineOperation({
    name: 'DeletePublicAccessBlock',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'publicAccessBlock',
    action: 's3:PutBucketPublicAccessBlock',
    needs: 'bucket:update',
    handle: deletePublicAccessBlock,
  }),
];
