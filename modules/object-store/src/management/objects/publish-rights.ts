import { createMaker, grantOf, principalOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { StoreParts } from '../../domain/store-parts.ts';

/**
 * Whether the caller may make an object public, asked only where a request wants that. It decides who reaches the bucket's
 * contents, so it needs the right of `bucket:update`, as an ACL does on the S3 plane.
 */
export async function mayPublish(
  isPublic: boolean,
  request: FastifyRequest,
  { rights }: Pick<StoreParts, 'rights'>,
): Promise<boolean> {
  if (!isPublic) return false;
  const maker = createMaker(principalOf(request));
  const { workspaceUuid } = grantOf(request);
  const allowed = await rights.allowedActions({ maker, workspaceUuid, actions: ['bucket:update'] });
  return allowed.has('bucket:update');
}
