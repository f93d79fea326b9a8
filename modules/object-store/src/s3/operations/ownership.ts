import { defineOperation, type BucketHandler } from '../operation.ts';
import { isPrivate } from '../../domain/access/access-control-list.ts';
import {
  isObjectOwnership,
  type ObjectOwnership,
  type OwnershipControls,
} from '../../domain/access/object-ownership.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { children, childText, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 8 * 1024;

const getBucketOwnershipControls: BucketHandler = async (context) => {
  const { ownership } = context.access.rules;
  if (ownership === null) {
    throw storeErrors.OwnershipControlsNotFoundError({ details: { resource: context.bucket.name } });
  }
  respondXml(context.response, 'OwnershipControls', { Rule: { ObjectOwnership: ownership } });
};

/** `BucketOwnerEnforced` disables ACLs, so an ACL that grants access to others must be removed first. */
const putBucketOwnershipControls: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'OwnershipControls');
  const [rule, ...others] = children(root, 'Rule');
  const wanted = rule === undefined ? undefined : childText(rule, 'ObjectOwnership')?.trim();
  if (wanted === undefined || others.length > 0 || !isObjectOwnership(wanted)) throw storeErrors.MalformedXML();
  const { acl } = context.access.rules;
  if (wanted === 'BucketOwnerEnforced' && !isPrivate(acl)) throw storeErrors.InvalidBucketAclWithObjectOwnership();
  await context.services.configurations.put(context.bucket, 'ownership-controls', ownershipDocument(wanted));
  respondEmpty(context.response, 200);
};

const deleteBucketOwnershipControls: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'ownership-controls', null);
  respondEmpty(context.response, 204);
};

export function ownershipDocument(objectOwnership: ObjectOwnership): string {
  const controls: OwnershipControls = { objectOwnership };
  return JSON.stringify(controls);
}

export const ownershipOperations = [
  defineOperation({
    name: 'GetBucketOwnershipControls',
    on: 'bucket',
    method: 'GET',
    subresource: 'ownershipControls',
    action: 's3:GetBucketOwnershipControls',
    needs: 'bucket:read',
    handle: getBucketOwnershipControls,
  }),
  defineOperation({
    name: 'PutBucketOwnershipControls',
    on: 'bucket',
    method: 'PUT',
    subresource: 'ownershipControls',
    action: 's3:PutBucketOwnershipControls',
    needs: 'bucket:update',
    handle: putBucketOwnershipControls,
  }),
  defineOperation({
    name: 'DeleteBucketOwnershipControls',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'ownershipControls',
    action: 's3:PutBucketOwnershipControls',
    needs: 'bucket:update',
    handle: deleteBucketOwnershipControls,
  }),
];
