import type { FoundObject } from '../../domain/ports/objects.ts';
import type { ObjectContext } from '../s3-context.ts';
import { findAllowed } from './authorize.ts';

/**
 * Finds the object that the request names and checks that the caller may perform the operation on it. Throws
 * `NoSuchKey`, `NoSuchVersion` or `MethodNotAllowed` if the caller may know, else `AccessDenied`.
 */
export async function findObject(context: ObjectContext): Promise<FoundObject> {
  const access = context.access;
  if (access.loaded !== null) return access.loaded;
  const versionId = context.request.query.versionId();
  const name = { key: context.key, ...(versionId === undefined ? {} : { versionId }) };
  return await findAllowed(context.services, access, name);
}
