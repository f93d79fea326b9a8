import { createMaker } from '@svc/access';
import { grantOf, principalOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { parseAcl, sharesWithOthers } from '../../domain/access/access-control-list.ts';
import type { StoreDeps } from '../../domain/store-deps.ts';
import { storeErrors } from '../../errors.ts';
import type { BucketRecord, UploadRecord } from '../../domain/ports/records.ts';

/**
 * Whether the caller may make an object public; checked only if the request asks for it. Publishing changes who can
 * read the bucket, so it requires the right of `bucket:update`, as an ACL does on the S3 plane.
 */
export async function mayPublish(
  isPublic: boolean,
  request: FastifyRequest,
  { rights }: Pick<StoreDeps, 'rights'>,
): Promise<boolean> {
  if (!isPublic) return false;
  const maker = createMaker(principalOf(request));
  const { workspaceUuid } = grantOf(request);
  const allowed = await rights.allowedActions({ maker, workspaceUuid, actions: ['bucket:update'] });
  return allowed.has('bucket:update');
}

/** Completing an upload publishes its object, and the caller may have lost the right since starting it. */
export async function assertMayComplete(
  { attributes }: UploadRecord,
  bucket: BucketRecord,
  request: FastifyRequest,
  deps: Pick<StoreDeps, 'rights'>,
): Promise<void> {
  const { accessControlList } = attributes;
  if (accessControlList === undefined) return;
  const shares = sharesWithOthers(parseAcl(accessControlList), bucket.workspaceUuid);
  if (!shares || (await mayPublish(shares, request, deps))) return;
  const reason = 'Completing an upload whose ACL grants access to others requires permission to configure the bucket';
  throw storeErrors.AccessDenied({ details: { reason } });
}
