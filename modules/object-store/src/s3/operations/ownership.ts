import { isPrivate } from '../../domain/access/access-control-list.ts';
import {
  isObjectOwnership,
  type ObjectOwnership,
  type OwnershipControls,
} from '../../domain/access/object-ownership.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { accessOf, bucketOf, type S3Handler } from '../s3-context.ts';
import { children, childText, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 8 * 1024;

export const getBucketOwnershipControls: S3Handler = async (context) => {
  const { ownership } = accessOf(context).rules;
  if (ownership === null) {
    throw storeErrors.OwnershipControlsNotFoundError({ details: { resource: bucketOf(context).name } });
  }
  respondXml(context.response, 'OwnershipControls', { Rule: { ObjectOwnership: ownership } });
};

/** Enforcing leaves no ACLs; a bucket whose list grants others something has to give that up first. */
export const putBucketOwnershipControls: S3Handler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'OwnershipControls');
  const [rule, ...others] = children(root, 'Rule');
  const wanted = rule === undefined ? undefined : childText(rule, 'ObjectOwnership')?.trim();
  if (wanted === undefined || others.length > 0 || !isObjectOwnership(wanted)) throw storeErrors.MalformedXML();
  const { acl } = accessOf(context).rules;
  if (wanted === 'BucketOwnerEnforced' && !isPrivate(acl)) throw storeErrors.InvalidBucketAclWithObjectOwnership();
  await context.services.configurations.put(bucketOf(context), 'ownership-controls', ownershipDocument(wanted));
  respondEmpty(context.response, 200);
};

export const deleteBucketOwnershipControls: S3Handler = async (context) => {
  await context.services.configurations.put(bucketOf(context), 'ownership-controls', null);
  respondEmpty(context.response, 204);
};

export function ownershipDocument(objectOwnership: ObjectOwnership): string {
  const controls: OwnershipControls = { objectOwnership };
  return JSON.stringify(controls);
}
