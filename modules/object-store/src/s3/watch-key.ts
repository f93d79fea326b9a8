import type { ServerResponse } from 'node:http';
import type { HeldRight, HeldRights } from '@svc/access';
import type { Caller } from '../domain/caller.ts';
import type { CredentialCache } from '../domain/credential-cache.ts';
import type { StoreAction } from '../domain/ports/maker-rights.ts';
import type { S3Request } from './s3-request.ts';

export interface WatchedRequest {
  request: S3Request;
  response: ServerResponse;
  caller: Caller;
  needs: StoreAction;
}

/**
 * Aborts a running request when its key is revoked or the key's creator loses the right: a long upload is not stored, a
 * long download ends. The returned function ends the watch.
 */
export function watchKey(
  { request, response, caller, needs }: WatchedRequest,
  { rights, credentials }: { rights: HeldRights; credentials: CredentialCache },
): () => void {
  if (caller.accessKeyId === null) return () => undefined;
  const key = JSON.stringify(['s3', caller.accessKeyId, needs, request.bucketName]);
  const right: HeldRight = {
    key,
    exactKey: key,
    confirmedAtMs: rights.now().getTime(),
    check: () => credentials.assertStillValid(caller, needs, request.bucketName),
  };
  return rights.hold(right, () => {
    request.incoming.destroy();
    response.destroy();
  });
}
