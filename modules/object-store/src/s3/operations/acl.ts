import { defineOperation, type ObjectHandler, type BucketHandler } from '../operation.ts';
import {
  isPrivate,
  isPublicAcl,
  parseAcl,
  privateAcl,
  type AccessControlList,
} from '../../domain/access/access-control-list.ts';
import { createOwner } from '../../domain/access/owner-identity.ts';
import { storeErrors } from '../../errors.ts';
import type { ObjectVersion } from '../../domain/ports/records.ts';
import { aclElement, parseAclDocument } from '../access/acl-xml.ts';
import { findObject } from '../access/find-object.ts';
import { hasAclHeaders, readAclHeaders, resolveAcl } from '../access/requested-acl.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { versionHeaders } from '../object-headers.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import type { BucketContext } from '../s3-context.ts';

/** A hundred grants with room for names. */
const MAX_ACL_BYTES = 64 * 1024;

const getBucketAcl: BucketHandler = async (context) => {
  const { acl, ownership } = context.access.rules;
  const shown = ownership === 'BucketOwnerEnforced' ? privateAcl(context.bucket.workspaceUuid) : acl;
  respondXml(context.response, 'AccessControlPolicy', aclElement(shown));
};

const putBucketAcl: BucketHandler = async (context) => {
  const { bucket } = context;
  const acl = await receiveAcl(context, bucket.workspaceUuid);
  const document = isPrivate(acl) ? null : JSON.stringify(acl);
  await context.services.configurations.put(bucket, 'access-control-list', document);
  respondEmpty(context.response, 200);
};

const getObjectAcl: ObjectHandler = async (context) => {
  const { version } = await findObject(context);
  for (const [name, value] of Object.entries(versionHeaders(context.bucket, version.versionId))) {
    if (value !== undefined) context.response.setHeader(name, value);
  }
  respondXml(context.response, 'AccessControlPolicy', aclElement(readAcl(context, version)));
};

const putObjectAcl: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const { bucket } = context;
  const { version } = await findObject(context);
  const acl = await receiveAcl(context, readAcl(context, version).owner);
  const isDefault = isPrivate(acl) && acl.owner === bucket.workspaceUuid;
  const versionId = request.query.versionId();
  const changed = await services.deps.metadata.changeAttributes({
    bucketId: bucket.id,
    key: context.key,
    ...(versionId === undefined ? {} : { versionId }),
    changes: { accessControlList: isDefault ? null : JSON.stringify(acl) },
  });
  respondEmpty(response, 200, versionHeaders(bucket, changed.versionId));
};

function readAcl(context: BucketContext, version: ObjectVersion): AccessControlList {
  const { ownership } = context.access.rules;
  const list = version.attributes.accessControlList;
  if (list === undefined || ownership === 'BucketOwnerEnforced') return privateAcl(context.bucket.workspaceUuid);
  return parseAcl(list);
}

/** Reads the ACL from headers or the body, but not from both. The ACL cannot change the owner. */
async function receiveAcl(context: BucketContext, owner: string): Promise<AccessControlList> {
  const { request, services } = context;
  const { rules } = context.access;
  if (rules.ownership === 'BucketOwnerEnforced') throw storeErrors.AccessControlListNotSupported();
  const header = (name: string): string | undefined => request.headers.get(name);
  const document = await receiveDocument(context, MAX_ACL_BYTES);
  if (document.trim() !== '' && hasAclHeaders(header)) throw storeErrors.UnexpectedContent();
  const requested = readAclHeaders(header);
  if (requested === null && document.trim() === '') {
    throw storeErrors.MissingSecurityHeader({ details: { missingHeader: 'x-amz-acl' } });
  }
  const { owners } = services.deps;
  const bucketOwner = context.bucket.workspaceUuid;
  const acl = await resolveAcl(requested ?? readDocument(document, owner), owner, bucketOwner, owners);
  if (rules.block.blockPublicAcls && isPublicAcl(acl)) {
    throw storeErrors.AccessDenied({ details: { reason: 'Public ACLs are blocked by the public access block' } });
  }
  return acl;
}

function readDocument(document: string, owner: string): ReturnType<typeof parseAclDocument> {
  const parsed = parseAclDocument(document);
  if (parsed.ownerId !== createOwner(owner).id) throw storeErrors.AccessDenied();
  return parsed;
}

export const aclOperations = [
  defineOperation({
    name: 'GetObjectAcl',
    on: 'object',
    method: 'GET',
    subresource: 'acl',
    action: 's3:GetObjectAcl',
    versionAction: 's3:GetObjectVersionAcl',
    asks: 'object',
    acl: { on: 'object', permission: 'READ_ACP' },
    needs: 'object:read',
    handle: getObjectAcl,
  }),
  defineOperation({
    name: 'PutObjectAcl',
    on: 'object',
    method: 'PUT',
    subresource: 'acl',
    action: 's3:PutObjectAcl',
    versionAction: 's3:PutObjectVersionAcl',
    asks: 'object',
    acl: { on: 'object', permission: 'WRITE_ACP' },
    needs: 'bucket:update',
    handle: putObjectAcl,
  }),
  defineOperation({
    name: 'GetBucketAcl',
    on: 'bucket',
    method: 'GET',
    subresource: 'acl',
    action: 's3:GetBucketAcl',
    acl: { on: 'bucket', permission: 'READ_ACP' },
    needs: 'bucket:read',
    handle: getBucketAcl,
  }),
  defineOperation({
    name: 'PutBucketAcl',
    on: 'bucket',
    method: 'PUT',
    subresource: 'acl',
    action: 's3:PutBucketAcl',
    acl: { on: 'bucket', permission: 'WRITE_ACP' },
    needs: 'bucket:update',
    handle: putBucketAcl,
  }),
];
