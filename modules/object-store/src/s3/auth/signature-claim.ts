import { ALGORITHM, parseAmzDate, toAmzDate } from '@svc/s3-sign';
import { fromHttpDate } from '../../domain/http-date.ts';
import { storeErrors } from '../../errors.ts';
import type { RequestHeaders } from '../request-headers.ts';
import type { S3Request } from '../s3-request.ts';
import {
  accessDenied,
  refuseAuthorization,
  refuseHeader,
  refuseQuery,
  refuseQueryCredential,
  unsupportedMechanism,
} from './auth-refusals.ts';
import { assertRegion, readCredentialScope, type CredentialScope } from './credential-scope.ts';

/** The signature that a request claims, in a header or in the query. Not verified yet. */
export interface SignatureClaim extends CredentialScope {
  source: 'header' | 'query';
  /** `yyyymmddThhmmssZ`, on the day of the scope. */
  amzDate: string;
  /** `amzDate` in milliseconds. */
  timeMs: number;
  /** In alphabetical order. */
  signedHeaders: readonly string[];
  signature: string;
  /** Presigned URLs only. */
  expiresSeconds: number | null;
}

const COMPONENTS = ['Credential', 'SignedHeaders', 'Signature'] as const;
const QUERY_PARAMETERS = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Signature',
  'X-Amz-Date',
  'X-Amz-SignedHeaders',
  'X-Amz-Expires',
] as const;

/** Null for an unsigned request. Signature Version 2 gets its own error. */
export function readClaim(request: S3Request, regions: readonly string[]): SignatureClaim | null {
  const { query, headers } = request;
  const authorization = headers.get('authorization') ?? '';
  const presigned = query.has('X-Amz-Signature') || query.has('X-Amz-Algorithm') || query.has('X-Amz-Credential');
  if (presigned) {
    if (authorization.startsWith('AWS4-') || authorization.startsWith('AWS ')) throw twoMechanisms();
    return fromQuery(request, regions);
  }
  if (authorization === '') {
    if (query.has('AWSAccessKeyId') && query.has('Signature')) throw unsupportedMechanism();
    return null;
  }
  return fromHeader(request, authorization, regions);
}

function fromHeader(request: S3Request, authorization: string, regions: readonly string[]): SignatureClaim {
  if (request.headers.all('authorization').length > 1) throw refuseAuthorization('It was sent more than once');
  const space = authorization.indexOf(' ');
  if (space === -1) {
    throw refuseAuthorization("Authorization header is invalid -- one and only one ' ' (space) required.");
  }
  const scheme = authorization.slice(0, space);
  if (scheme === 'AWS' || scheme === 'AWS4-ECDSA-P256-SHA256') throw unsupportedMechanism();
  if (scheme !== ALGORITHM) throw refuseAuthorization('Unsupported Authorization Type');
  const components = readComponents(authorization.slice(space + 1));
  const scope = readCredentialScope(components.Credential, refuseHeader);
  assertRegion(scope.region, regions, refuseHeader);
  const amzDate = signingDate(request.headers);
  const timeMs = amzDate === null ? null : parseAmzDate(amzDate);
  if (amzDate === null || timeMs === null) {
    throw accessDenied('AWS authentication requires a valid Date or x-amz-date header.');
  }
  if (!amzDate.startsWith(scope.date)) throw refuseHeader(otherDay(scope.date, amzDate));
  return {
    source: 'header',
    ...scope,
    amzDate,
    timeMs,
    signedHeaders: parseNames(components.SignedHeaders),
    signature: components.Signature,
    expiresSeconds: null,
  };
}

/** When a request was signed: `x-amz-date`, else `Date`. Null if it has neither. */
function signingDate(headers: RequestHeaders): string | null {
  const own = headers.get('x-amz-date');
  if (own !== undefined) return own;
  const date = headers.get('date') ?? '';
  if (parseAmzDate(date) !== null) return date;
  const timeMs = /^[A-Z][a-z]{2}, \d/.test(date) ? fromHttpDate(date) : null; // `Date.parse` alone accepts any number
  return timeMs === null ? null : toAmzDate(timeMs);
}

function readComponents(text: string): Readonly<Record<(typeof COMPONENTS)[number], string>> {
  const pieces = text.split(',');
  if (pieces.length !== COMPONENTS.length) {
    throw refuseHeader('the authorization header requires three components: Credential, SignedHeaders, and Signature.');
  }
  const values = new Map<string, string>();
  for (const piece of pieces) {
    const at = piece.indexOf('=');
    if (at === -1) throw refuseHeader(`the authorization component "${piece.trim()}" is malformed.`);
    values.set(piece.slice(0, at).trim(), piece.slice(at + 1).trim());
  }
  const [Credential, SignedHeaders, Signature] = COMPONENTS.map((name) => {
    const value = values.get(name) ?? '';
    if (value === '') throw refuseHeader(`missing ${name}.`);
    return value;
  });
  return { Credential: Credential ?? '', SignedHeaders: SignedHeaders ?? '', Signature: Signature ?? '' };
}

function fromQuery(request: S3Request, regions: readonly string[]): SignatureClaim {
  const { query } = request;
  const given = query.parameters.map(({ name }) => name).filter((name) => name.startsWith('X-Amz-'));
  if (new Set(given).size !== given.length) throw refuseQuery('A parameter was sent more than once.');
  const value = (name: (typeof QUERY_PARAMETERS)[number]): string => query.get(name) ?? '';
  if (QUERY_PARAMETERS.some((name) => value(name) === '')) {
    throw refuseQuery(
      'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
    );
  }
  if (value('X-Amz-Algorithm') !== ALGORITHM) throw refuseQuery(`X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const scope = readCredentialScope(value('X-Amz-Credential'), refuseQueryCredential);
  assertRegion(scope.region, regions, refuseQueryCredential);
  const amzDate = value('X-Amz-Date');
  const timeMs = parseAmzDate(amzDate);
  if (timeMs === null) {
    throw refuseQuery(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`);
  }
  if (!amzDate.startsWith(scope.date)) throw refuseQuery(otherDay(scope.date, amzDate));
  const expires = value('X-Amz-Expires');
  if (!/^-?\d{1,9}$/.test(expires)) throw refuseQuery('X-Amz-Expires should be a number');
  return {
    source: 'query',
    ...scope,
    amzDate,
    timeMs,
    signedHeaders: parseNames(value('X-Amz-SignedHeaders')),
    signature: value('X-Amz-Signature'),
    expiresSeconds: Number(expires),
  };
}

function parseNames(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(';')
    .filter((name) => name !== '')
    .toSorted();
}

function otherDay(date: string, amzDate: string): string {
  return `Invalid credential date "${date}". This date is not the same as X-Amz-Date: "${amzDate.slice(0, 8)}".`;
}

function twoMechanisms(): Error {
  const reason =
    'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified';
  return storeErrors.InvalidArgument({ details: { reason } });
}
