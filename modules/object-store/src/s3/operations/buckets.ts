import { defineOperation, type ServiceHandler, type BucketHandler } from '../operation.ts';
import { isAppError } from '@svc/errors';
import { mayDo, requireWorkspace } from '../../domain/caller.ts';
import { assertBucketName } from '../../domain/bucket-name.ts';
import { MAX_BUCKET_TAGS, type Tags } from '../../domain/tags.ts';
import { storeErrors } from '../../errors.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { readNewBucketAccess, type NewBucketAccess } from '../access/new-bucket-access.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { fromToken, readLimitText, toIsoDate, toToken } from '../page-parameters.ts';
import { ownerElement } from '../owner-element.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import type { S3Context } from '../s3-context.ts';
import { readTagList } from '../tagging-document.ts';
import { children, childText, parseXml, type XmlElement } from '../xml-reader.ts';

const MAX_CONFIGURATION_BYTES = 64 * 1024;
const MAX_PAGE = 10_000;
/** `GetBucketLocation` reports this region as an empty name. All regions in signatures mean the same place here. */
export const HOME_REGION = 'us-east-1';

const listBuckets: ServiceHandler = async ({ request, response, caller, services }) => {
  const { query } = request;
  const workspaceUuid = requireWorkspace(caller);
  const limit = readPageSize(query.get('max-buckets'), services.deps.config.limits.buckets_per_workspace);
  const token = query.get('continuation-token');
  const prefix = query.get('prefix') ?? '';
  const after = token === undefined ? '' : fromToken(token);
  const found = await services.buckets.list(workspaceUuid, { prefix, after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const shown = page.filter((bucket) => caller.buckets === null || caller.buckets.includes(bucket.name));
  respondXml(response, 'ListAllMyBucketsResult', {
    Owner: ownerElement(workspaceUuid),
    Buckets: {
      Bucket: shown.map(({ name, createdAtMs }) => ({ Name: name, CreationDate: toIsoDate(createdAtMs) })),
    },
    ...(query.has('prefix') ? { Prefix: prefix } : {}),
    ...(found.length > limit && last !== undefined ? { ContinuationToken: toToken(last.name) } : {}),
  });
};

/** Unlike `max-keys` and similar parameters, this one has a minimum and a maximum. */
function readPageSize(text: string | undefined, limit: number): number {
  if (text === undefined || text === '') return limit;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > MAX_PAGE) {
    const reason = `Argument max-buckets must be an integer between 1 and ${MAX_PAGE}.`;
    const details = { reason, argumentName: 'max-buckets', argumentValue: text.slice(0, 100) };
    throw storeErrors.InvalidArgument({ details });
  }
  return readLimitText(text, 'max-buckets', limit);
}

const createBucket: ServiceHandler = async (context) => {
  const { request, response, caller, services } = context;
  const name = request.bucketName ?? '';
  assertBucketName(name);
  const document = await receiveDocument(context, MAX_CONFIGURATION_BYTES);
  const root = document.trim() === '' ? null : parseXml(document, 'CreateBucketConfiguration');
  if (root !== null) assertLocation(root, services.deps.config.regions);
  const tags = root === null ? null : readTags(root);
  const access = await readNewBucketAccess(
    (header) => request.headers.get(header),
    requireWorkspace(caller),
    services.deps,
  );
  const objectLock = request.headers.get('x-amz-bucket-object-lock-enabled')?.toLowerCase() === 'true';
  const configures = access.length > 0 || tags !== null || objectLock;
  if (configures && !mayDo(caller, 'bucket:update', name)) {
    throw storeErrors.AccessDenied({
      details: { reason: 'A bucket with an ACL, ownership, object lock or tags requires a key with admin permission' },
    });
  }
  const bucket = await createOrRefuse(context, { name, access, objectLock });
  if (bucket !== null) {
    for (const [kind, document] of access) await services.configurations.put(bucket, kind, document);
    if (tags !== null) await services.configurations.put(bucket, 'tagging', JSON.stringify(tags));
  }
  respondEmpty(response, 200, { location: `/${name}`, 'x-amz-bucket-arn': `arn:aws:s3:::${name}` });
};

const headBucket: BucketHandler = async ({ response }) => {
  respondEmpty(response, 200, { 'x-amz-bucket-region': HOME_REGION });
};

const getBucketLocation: BucketHandler = async ({ response }) => {
  respondXml(response, 'LocationConstraint', '');
};

const deleteBucket: BucketHandler = async (context) => {
  await context.services.buckets.delete(context.bucket);
  respondEmpty(context.response, 204);
};

/** Null if there are no tags; an empty list counts as none. */
function readTags(root: XmlElement): Tags | null {
  const [list, ...others] = children(root, 'Tags');
  if (others.length > 0) throw storeErrors.MalformedXML();
  const tags = list === undefined ? {} : readTagList(list, MAX_BUCKET_TAGS);
  return Object.keys(tags).length === 0 ? null : tags;
}

function assertLocation(root: XmlElement, regions: readonly string[]): void {
  const location = childText(root, 'LocationConstraint') ?? '';
  if (!regions.includes(location)) throw storeErrors.InvalidLocationConstraint({ details: { location } });
}

/**
 * Re-creating your own bucket fails with `BucketAlreadyExists` if the ACL differs, else with `BucketAlreadyOwnedByYou`.
 * Returns null if there is nothing to do: in us-east-1 only, re-creating your own bucket succeeds (API reference,
 * CreateBucket, BucketAlreadyOwnedByYou).
 */
async function createOrRefuse(
  { caller, services, seed }: S3Context,
  { name, access, objectLock }: { name: string; access: NewBucketAccess; objectLock: boolean },
): Promise<BucketRecord | null> {
  try {
    return await services.buckets.create({ name, workspaceUuid: requireWorkspace(caller), objectLock });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'BucketAlreadyOwnedByYou') throw error;
    const configuration = await services.configurations.of(await services.buckets.get(name));
    const wanted = access.find(([kind]) => kind === 'access-control-list')?.[1] ?? null;
    if (configuration.text('access-control-list') !== wanted) {
      throw storeErrors.BucketAlreadyExists({ details: { resource: name } });
    }
    if (seed?.scope.split('/')[1] === HOME_REGION) return null;
    throw error;
  }
}

export const bucketsOperations = [
  defineOperation({
    name: 'ListBuckets',
    on: 'service',
    method: 'GET',
    action: 's3:ListAllMyBuckets',
    needs: 'bucket:list',
    handle: listBuckets,
  }),
  defineOperation({
    name: 'CreateBucket',
    on: 'service',
    at: 'bucket',
    method: 'PUT',
    action: 's3:CreateBucket',
    needs: 'bucket:create',
    handle: createBucket,
  }),
  defineOperation({
    name: 'HeadBucket',
    on: 'bucket',
    method: 'HEAD',
    action: 's3:ListBucket',
    acl: { on: 'bucket', permission: 'READ' },
    needs: 'bucket:read',
    handle: headBucket,
  }),
  defineOperation({
    name: 'DeleteBucket',
    on: 'bucket',
    method: 'DELETE',
    action: 's3:DeleteBucket',
    needs: 'bucket:delete',
    handle: deleteBucket,
  }),
  defineOperation({
    name: 'GetBucketLocation',
    on: 'bucket',
    method: 'GET',
    subresource: 'location',
    action: 's3:GetBucketLocation',
    needs: 'bucket:read',
    handle: getBucketLocation,
  }),
];
