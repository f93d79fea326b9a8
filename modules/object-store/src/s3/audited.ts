import type { ServerResponse } from 'node:http';
import { toAppError } from '@svc/errors';
import type { AuditedChange, AuditedRequest } from './s3-audit.ts';
import type { S3Context } from './s3-context.ts';

type Audited = Pick<S3Context, 'request' | 'response' | 'caller' | 'oversight'> & Pick<AuditedRequest, 'bucket'>;

/**
 * Runs a request and writes its audit entry before its response is sent, so that every change a client knows about is
 * in the log even if the process dies right after. Requests without a change just run. `run` reports the bucket if it
 * is not known yet.
 */
export async function audited(
  change: AuditedChange | null,
  { request, response, caller, oversight, bucket }: Audited,
  run: (found: (bucket: AuditedRequest['bucket']) => void) => Promise<void>,
): Promise<void> {
  const line: AuditedRequest = { caller, request, bucket };
  const found = (there: AuditedRequest['bucket']): void => void (line.bucket = there);
  if (change === null) return await run(found);
  const release = holdAnswer(response);
  try {
    await run(found);
    await oversight.audit.record(change, line, response.statusCode);
  } catch (error) {
    await oversight.audit.record(change, line, toAppError(error).status);
    throw error;
  } finally {
    release();
  }
}

/**
 * Holds back the end of a response until the returned function is called. Only for responses sent in one piece: nothing
 * of them is sent before the end.
 */
function holdAnswer(response: ServerResponse): () => void {
  const end = response.end;
  let held: readonly unknown[] | null = null;
  response.end = (...pieces: unknown[]) => {
    held = pieces;
    return response;
  };
  return () => {
    response.end = end;
    if (held !== null) Reflect.apply(end, response, held);
  };
}
