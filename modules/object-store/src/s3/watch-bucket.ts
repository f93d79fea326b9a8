import type { ServerResponse } from 'node:http';
import { watchStranger } from '../domain/access/watch-stranger.ts';
import { authorizeAgain, type AuthorizeInput } from './access/authorize.ts';
import type { S3Request } from './s3-request.ts';

export interface WatchedStranger {
  /** Whose connection ends. */
  request: S3Request;
  response: ServerResponse;
  /** What was authorized. */
  input: AuthorizeInput;
}

/**
 * Aborts a running request of an anonymous client or another workspace when its bucket no longer allows it, as `watchKey`
 * does for keys. The returned function ends the watch.
 */
export function watchBucket({ request, response, input }: WatchedStranger): () => void {
  const { services, caller, bucket } = input;
  if (caller.workspaceUuid === bucket.workspaceUuid) return () => undefined;
  return watchStranger(services.strangers, {
    decide: async () => authorizeAgain({ ...input, bucket: await services.buckets.get(bucket.name) }),
    end: () => {
      request.incoming.destroy();
      response.destroy();
    },
  });
}
