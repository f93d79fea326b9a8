import type { FoundObject } from '../../domain/ports/metadata-store.ts';
import type { ObjectContext } from '../s3-context.ts';
import { findAllowed } from './authorize.ts';

/**
 * The object that the request names, if the caller may do to it what the operation does. Throws `NoSuchKey`,
 * `NoSuchVersion` and `MethodNotAllowed` for those who may know, else `AccessDenied`.
 */
export async function findObject(context: ObjectContext): Promise<FoundObject> {
  const access = context.access;
  if (access.loaded !== null) return access.loaded;
  const versionId = context.request.query.versionId();
  const name = { key: context.key, ...(versionId === undefined ? {} : { versionId }) };
  return await findAllowed(context.services, access, name);
}
