import type { ServerResponse } from 'node:http';
import { toAppError } from '@svc/errors';
import type { AuditedChange } from './s3-audit.ts';
import type { S3Context } from './s3-context.ts';

type AuditedRequest = Pick<S3Context, 'request' | 'response' | 'caller' | 'oversight'>;

/**
 * Runs a request and writes its line before its answer: a change that the caller knows of is in the log, whatever happens
 * to the process after it. Anonymous requests and those without a line just run.
 */
export async function audited(
  change: AuditedChange | null,
  { request, response, caller, oversight }: AuditedRequest,
  run: () => Promise<void>,
): Promise<void> {
  if (change === null || caller.accessKeyId === null) return await run();
  const release = holdAnswer(response);
  try {
    await run();
    await oversight.audit.record(change, caller, request, response.statusCode);
  } catch (error) {
    await oversight.audit.record(change, caller, request, toAppError(error).status);
    throw error;
  } finally {
    release();
  }
}

/**
 * Keeps the end of an answer back until the returned function is called. Only for answers of one piece: nothing of them
 * leaves before their end.
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
