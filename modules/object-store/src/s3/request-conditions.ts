import { parseTags, type ReadConditions } from '../domain/read-conditions.ts';
import type { WriteConditions } from '../ports/metadata-store.ts';
import type { RequestHeaders } from './request-headers.ts';

export function readConditionsOf(headers: RequestHeaders): ReadConditions {
  return {
    ifMatch: headers.get('if-match'),
    ifNoneMatch: headers.get('if-none-match'),
    ifModifiedSince: headers.get('if-modified-since'),
    ifUnmodifiedSince: headers.get('if-unmodified-since'),
  };
}

/** Decided in the transaction, against what is there then. */
export function writeConditionsOf(headers: RequestHeaders): WriteConditions {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  return {
    ...(ifMatch === undefined ? {} : { ifMatch: parseTags(ifMatch) }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: parseTags(ifNoneMatch) }),
  };
}
