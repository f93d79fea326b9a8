import {
  isPrivate,
  isPublicAcl,
  parseAcl,
  privateAcl,
  type AccessControlList,
} from '../../domain/access/access-control-list.ts';
import { ownerOf } from '../../domain/access/owner-identity.ts';
import { storeErrors } from '../../errors.ts';
import type { ObjectVersion } from '../../domain/ports/records.ts';
import { aclElement, parseAclDocument } from '../access/acl-xml.ts';
import { findObject } from '../access/find-object.ts';
import { hasAclHeaders, readAclHeaders, resolveAcl } from '../access/requested-acl.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { versionHeaders } from '../object-headers.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { accessOf, bucketOf, keyOf, type S3Context, type S3Handler } from '../s3-context.ts';

/** A hundred grants with room for names. */
const MAX_ACL_BYTES = 64 * 1024;

export const getBucketAcl: S3Handler = async (context) => {
  const { acl, ownership } = accessOf(context).rules;
  const shown = ownership === 'BucketOwnerEnforced' ? privateAcl(bucketOf(context).workspaceUuid) : acl;
  respondXml(context.response, 'AccessControlPolicy', aclElement(shown));
};

export const putBucketAcl: S3Handler = async (context) => {
  const bucket = bucketOf(context);
  const acl = await receiveAcl(context, bucket.workspaceUuid);
  const document = isPrivate(acl) ? null : JSON.stringify(acl);
  await context.services.configurations.put(bucket, 'access-control-list', document);
  respondEmpty(context.response, 200);
};

export const getObjectAcl: S3Handler = async (context) => {
  const { version } = await findObject(context);
  for (const [name, value] of Object.entries(versionHeaders(bucketOf(context), version.versionId))) {
    if (value !== undefined) context.response.setHeader(name, value);
  }
  respondXml(context.response, 'AccessControlPolicy', aclElement(aclOf(context, version)));
};

export const putObjectAcl: S3Handler = async (context) => {
  const { request, response, services } = context;
  const bucket = bucketOf(context);
  const { version } = await findObject(context);
  const acl = await receiveAcl(context, aclOf(context, version).owner);
  const isDefault = isPrivate(acl) && acl.owner === bucket.workspaceUuid;
  const versionId = request.query.versionId();
  const changed = await services.parts.metadata.changeAttributes({
    bucketId: bucket.id,
    key: keyOf(context),
    ...(versionId === undefined ? {} : { versionId }),
    changes: { accessControlList: isDefault ? null : JSON.stringify(acl) },
  });
  respondEmpty(response, 200, versionHeaders(bucket, changed.versionId));
};

function aclOf(context: S3Context, version: ObjectVersion): AccessControlList {
  const { ownership } = accessOf(context).rules;
  const list = version.attributes.accessControlList;
  if (list === undefined || ownership === 'BucketOwnerEnforced') return privateAcl(bucketOf(context).workspaceUuid);
  return parseAcl(list);
}

/** From headers or from the body, but not from both; for something of this owner, which an ACL cannot change. */
async function receiveAcl(context: S3Context, owner: string): Promise<AccessControlList> {
  const { request, services } = context;
  const { rules } = accessOf(context);
  if (rules.ownership === 'BucketOwnerEnforced') throw storeErrors.AccessControlListNotSupported();
  const header = (name: string): string | undefined => request.headers.get(name);
  const document = await receiveDocument(context, MAX_ACL_BYTES);
  if (document.trim() !== '' && hasAclHeaders(header)) throw storeErrors.UnexpectedContent();
  const requested = readAclHeaders(header);
  if (requested === null && document.trim() === '') {
    throw storeErrors.MissingSecurityHeader({ details: { missingHeader: 'x-amz-acl' } });
  }
  const { owners } = services.parts;
  const bucketOwner = bucketOf(context).workspaceUuid;
  const acl = await resolveAcl(requested ?? readDocument(document, owner), owner, bucketOwner, owners);
  if (rules.block.blockPublicAcls && isPublicAcl(acl)) {
    throw storeErrors.AccessDenied({ details: { reason: 'Public ACLs are blocked by the public access block' } });
  }
  return acl;
}

function readDocument(document: string, owner: string): ReturnType<typeof parseAclDocument> {
  const parsed = parseAclDocument(document);
  if (parsed.ownerId !== ownerOf(owner).id) throw storeErrors.AccessDenied();
  return parsed;
}
