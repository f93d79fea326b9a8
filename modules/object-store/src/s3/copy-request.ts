import { parseChecksumAlgorithm, type ChecksumAlgorithm } from '../domain/checksums/algorithms.ts';
import { unsupportedChecksum } from './body/body-plan.ts';
import { evaluateReadConditions } from '../domain/read-conditions.ts';
import { storeErrors } from '../errors.ts';
import type { FoundObject } from '../domain/ports/objects.ts';
import type { BucketRecord, ObjectAttributes } from '../domain/ports/records.ts';
import { isAppError } from '@svc/errors';
import { findCopySource } from './access/copy-source.ts';
import { readCopySource, type CopySource } from './copy-source-header.ts';
import type { RequestHeaders } from './request-headers.ts';
import type { BucketContext } from './s3-context.ts';

export interface FoundSource {
  bucket: BucketRecord;
  found: FoundObject;
  named: CopySource;
}

/** Finds the source, which the caller must be allowed to read. Throws `PreconditionFailed` if its conditions fail. */
export async function findSource(context: BucketContext): Promise<FoundSource> {
  const { headers } = context.request;
  const named = readCopySource(headers);
  const source = await readable(context, named);
  const conditions = {
    ifMatch: headers.get('x-amz-copy-source-if-match'),
    ifNoneMatch: headers.get('x-amz-copy-source-if-none-match'),
    ifModifiedSince: headers.get('x-amz-copy-source-if-modified-since'),
    ifUnmodifiedSince: headers.get('x-amz-copy-source-if-unmodified-since'),
  };
  if (evaluateReadConditions(conditions, source.found.version) !== 'send') throw storeErrors.PreconditionFailed();
  return { ...source, named };
}

async function readable(context: BucketContext, named: CopySource): Promise<Omit<FoundSource, 'named'>> {
  try {
    return await findCopySource(context, named);
  } catch (error) {
    if (!isAppError(error) || error.code !== 'MethodNotAllowed') throw error;
    const reason = 'The source of a copy request may not specifically refer to a delete marker by version id.';
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
}

/** `COPY` unless the request says `REPLACE`. */
export function replaces(headers: RequestHeaders, what: 'metadata' | 'tagging'): boolean {
  const directive = headers.get(`x-amz-${what}-directive`) ?? 'COPY';
  if (directive !== 'COPY' && directive !== 'REPLACE')
    throw invalid(`Unknown ${what} directive.`, `x-amz-${what}-directive`);
  return directive === 'REPLACE';
}

/** The attributes of the copy, taken from the source or the request as the directives say. */
export function attributesOfCopy(
  headers: RequestHeaders,
  source: ObjectAttributes,
  requested: ObjectAttributes,
): ObjectAttributes {
  const { contentType: _, headers: __, metadata: ___, tags: ____, ...rest } = requested;
  const kept = replaces(headers, 'metadata') ? requested : source;
  const { tags } = replaces(headers, 'tagging') ? requested : source;
  return {
    ...rest,
    contentType: kept.contentType,
    ...(kept.headers === undefined ? {} : { headers: kept.headers }),
    ...(kept.metadata === undefined ? {} : { metadata: kept.metadata }),
    ...(tags === undefined ? {} : { tags }),
  };
}

export function readCopyChecksum(headers: RequestHeaders): ChecksumAlgorithm | null {
  const name = headers.get('x-amz-checksum-algorithm');
  if (name === undefined) return null;
  const algorithm = parseChecksumAlgorithm(name);
  if (algorithm !== null) return algorithm;
  throw unsupportedChecksum();
}

const ATTEMPTS = 5;

/** Retries the copy, up to five attempts, if the source changes while it is copied. */
export async function retryWhileChanging<Result>(copy: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copy();
    } catch (error) {
      if (!isAppError(error) || error.code !== 'OperationAborted' || attempt === ATTEMPTS) throw error;
    }
  }
}

function invalid(reason: string, argumentName: string): Error {
  return storeErrors.InvalidArgument({ details: { reason, argumentName } });
}
