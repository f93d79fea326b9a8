import { parsePublicAccessBlock, type PublicAccessBlock } from '../../domain/access/public-access-block.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { bucketOf, type S3Handler } from '../s3-context.ts';
import { childText, parseXml, type XmlElement } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 8 * 1024;

export const getPublicAccessBlock: S3Handler = async (context) => {
  const bucket = bucketOf(context);
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

export const putPublicAccessBlock: S3Handler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'PublicAccessBlockConfiguration');
  const block: PublicAccessBlock = {
    blockPublicAcls: flag(root, 'BlockPublicAcls'),
    ignorePublicAcls: flag(root, 'IgnorePublicAcls'),
    blockPublicPolicy: flag(root, 'BlockPublicPolicy'),
    restrictPublicBuckets: flag(root, 'RestrictPublicBuckets'),
  };
  await context.services.configurations.put(bucketOf(context), 'public-access-block', JSON.stringify(block));
  respondEmpty(context.response, 200);
};

export const deletePublicAccessBlock: S3Handler = async (context) => {
  await context.services.configurations.put(bucketOf(context), 'public-access-block', null);
  respondEmpty(context.response, 204);
};

/** What is left out is off. */
function flag(root: XmlElement, name: string): boolean {
  const text = (childText(root, name) ?? 'false').trim().toLowerCase();
  if (text !== 'true' && text !== 'false') throw storeErrors.MalformedXML();
  return text === 'true';
}
