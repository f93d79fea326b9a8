import type { DeleteConditions } from '../domain/ports/delete-conditions.ts';
import { parseTags, type ReadConditions } from '../domain/read-conditions.ts';
import { storeErrors } from '../errors.ts';
import type { WriteConditions } from '../domain/ports/records.ts';
import type { RequestHeaders } from './request-headers.ts';

export function parseReadConditions(headers: RequestHeaders): ReadConditions {
  return {
    ifMatch: headers.get('if-match'),
    ifNoneMatch: headers.get('if-none-match'),
    ifModifiedSince: headers.get('if-modified-since'),
    ifUnmodifiedSince: headers.get('if-unmodified-since'),
  };
}

/** Evaluated in the transaction, against the version current then. */
export function parseWriteConditions(headers: RequestHeaders): WriteConditions {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  return {
    ...(ifMatch === undefined ? {} : { ifMatch: parseTags(ifMatch) }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: parseTags(ifNoneMatch) }),
  };
}

/** Conditions of `DeleteObject`: an ETag, plus the size and time conditions of the newer API. */
export function parseDeleteConditions(headers: RequestHeaders): DeleteConditions {
  return readDeleteConditions({
    etag: headers.get('if-match'),
    size: headers.get('x-amz-if-match-size'),
    modified: headers.get('x-amz-if-match-last-modified-time'),
  });
}

/** Shared by headers and the document of `DeleteObjects`. */
export function readDeleteConditions(texts: {
  etag: string | undefined;
  size: string | undefined;
  modified: string | undefined;
}): DeleteConditions {
  const { etag, size, modified } = texts;
  const modifiedAtMs = modified === undefined ? undefined : Date.parse(modified);
  if ((size !== undefined && !/^\d{1,15}$/.test(size)) || Number.isNaN(modifiedAtMs)) {
    throw storeErrors.InvalidArgument({ details: { reason: 'A condition of the delete is malformed' } });
  }
  return {
    ...(etag === undefined ? {} : { ifMatch: parseTags(etag) }),
    ...(size === undefined ? {} : { ifMatchSizeBytes: Number(size) }),
    ...(modifiedAtMs === undefined ? {} : { ifMatchModifiedAtMs: modifiedAtMs }),
  };
}
