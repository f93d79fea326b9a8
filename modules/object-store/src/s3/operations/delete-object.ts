import { defineOperation, type BucketHandler, type ObjectHandler } from '../operation.ts';
import type { DeleteConditions } from '../../domain/ports/delete-conditions.ts';
import { isAppError, type AppError } from '@svc/errors';
import { assertObjectKey } from '../../domain/object-key.ts';
import { storeErrors } from '../../errors.ts';
import type { DeletedObject } from '../../domain/ports/objects.ts';
import { mayDoTo } from '../access/authorize.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { asksForBypass, mayBypassGovernance } from '../object-lock-headers.ts';
import { parseDeleteConditions, readDeleteConditions } from '../request-conditions.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { MAX_VERSION_ID_LENGTH } from '../s3-audit.ts';
import { originOf, type BucketContext } from '../s3-context.ts';
import { children, childText, parseXml } from '../xml-reader.ts';
import type { XmlNode } from '../xml-writer.ts';

const MAX_KEYS = 1_000;
/** A thousand keys of 1 KB, with each byte written as a reference. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
const AT_A_TIME = 64;

const deleteObject: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const versionId = request.query.versionId();
  const name = { key: context.key, ...(versionId === undefined ? {} : { versionId }) };
  const deleted = await services.objects.delete(
    { bucket: context.bucket, ...name },
    parseDeleteConditions(request.headers),
    { bypassGovernance: mayBypassGovernance(context, name), origin: originOf(context) },
  );
  respondEmpty(response, 204, {
    ...(deleted.versionId === null ? {} : { 'x-amz-version-id': deleted.versionId }),
    ...(deleted.deleteMarker ? { 'x-amz-delete-marker': 'true' } : {}),
  });
};

interface NamedObject {
  key: string;
  versionId?: string;
  conditions: DeleteConditions;
}

const deleteObjects: BucketHandler = async (context) => {
  const root = parseXml(await receiveDocument(context, MAX_DOCUMENT_BYTES), 'Delete');
  const quiet = childText(root, 'Quiet')?.trim().toLowerCase() === 'true';
  const named = children(root, 'Object').map((element): NamedObject => {
    const [key, versionId] = [childText(element, 'Key'), childText(element, 'VersionId')];
    if (key === undefined || key === '') throw storeErrors.MalformedXML();
    const conditions = readDeleteConditions({
      etag: childText(element, 'ETag'),
      size: childText(element, 'Size'),
      modified: childText(element, 'LastModifiedTime'),
    });
    return { key, conditions, ...(versionId === undefined || versionId === '' ? {} : { versionId }) };
  });
  if (named.length === 0 || named.length > MAX_KEYS) throw storeErrors.MalformedXML();
  const { bucket } = context;
  const { access } = context;
  const outcomes: XmlNode[] = [];
  for (let start = 0; start < named.length; start += AT_A_TIME) {
    // Delete in parallel to share commits; each deletion succeeds or fails on its own.
    const batch = named.slice(start, start + AT_A_TIME).map(async ({ conditions, ...name }): Promise<XmlNode> => {
      try {
        assertObjectKey(name.key);
        if (!mayDoTo(access, name)) throw storeErrors.AccessDenied();
        const deleted = await context.services.objects.delete({ bucket, ...name }, conditions, {
          bypassGovernance: mayBypassGovernance(context, name),
          origin: originOf(context),
        });
        return quiet ? {} : { Deleted: toDeleted(name, deleted) };
      } catch (error) {
        if (!isAppError(error) || error.status >= 500) throw error;
        return { Error: toFailed(name, error) };
      }
    });
    outcomes.push(...(await Promise.all(batch)));
  }
  await auditVersions(context, named, outcomes);
  respondXml(context.response, 'DeleteResult', {
    Deleted: outcomes.flatMap((outcome) => ('Deleted' in outcome ? [outcome['Deleted'] as XmlNode] : [])),
    Error: outcomes.flatMap((outcome) => ('Error' in outcome ? [outcome['Error'] as XmlNode] : [])),
  });
};

/** Number of versions named in one audit entry. */
const AUDITED_NAMES = 20;
const AUDITED_KEY_LENGTH = 100;
/** The audit log keeps 4,000 characters of an entry. */
const AUDITED_CHARACTERS = 3_000;

/** Writes one audit entry for a bulk delete that removes versions permanently or asks to bypass governance. */
async function auditVersions(
  { request, caller, oversight, bucket }: BucketContext,
  named: readonly NamedObject[],
  outcomes: readonly XmlNode[],
): Promise<void> {
  const bypass = asksForBypass(request.headers);
  const versions = named.filter(({ versionId }) => versionId !== undefined);
  if (versions.length === 0 && !bypass) return;
  const refused = outcomes.filter((outcome) => 'Error' in outcome).length;
  const details = {
    operation: 'DeleteObjects',
    objects: named.length,
    refused,
    versions: versions.length,
    first_versions: firstNames(versions),
    bypass_governance: bypass,
  };
  const change = { action: 'object:delete', resource: `bucket/${request.bucketName ?? ''}`, details } as const;
  await oversight.audit.record(change, { caller, request, bucket }, refused === named.length ? 403 : 200);
}

/** As many names as fit: an entry that is too long would lose its other details too. */
function firstNames(versions: readonly NamedObject[]): { key: string; versionId: string | undefined }[] {
  const names = versions.slice(0, AUDITED_NAMES).map(({ key, versionId }) => ({
    key: key.slice(0, AUDITED_KEY_LENGTH),
    versionId: versionId?.slice(0, MAX_VERSION_ID_LENGTH),
  }));
  let left = AUDITED_CHARACTERS;
  return names.filter((name) => (left -= JSON.stringify(name).length) >= 0);
}

function toDeleted(name: Omit<NamedObject, 'conditions'>, deleted: DeletedObject): XmlNode {
  const marker = deleted.deleteMarker ? { DeleteMarker: true, DeleteMarkerVersionId: deleted.versionId } : {};
  return { Key: name.key, VersionId: name.versionId, ...marker };
}

function toFailed(name: Omit<NamedObject, 'conditions'>, error: AppError): XmlNode {
  return { Key: name.key, VersionId: name.versionId, Code: error.code, Message: error.message };
}

export const deleteObjectOperations = [
  defineOperation({
    name: 'DeleteObjects',
    on: 'bucket',
    method: 'POST',
    subresource: 'delete',
    action: 's3:DeleteObject',
    versionAction: 's3:DeleteObjectVersion',
    asks: 'each',
    acl: { on: 'bucket', permission: 'WRITE' },
    needs: 'object:delete',
    handle: deleteObjects,
  }),
  defineOperation({
    name: 'DeleteObject',
    on: 'object',
    method: 'DELETE',
    action: 's3:DeleteObject',
    versionAction: 's3:DeleteObjectVersion',
    asks: 'key',
    acl: { on: 'bucket', permission: 'WRITE' },
    needs: 'object:delete',
    handle: deleteObject,
  }),
];
