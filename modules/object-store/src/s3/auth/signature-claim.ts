import { storeErrors } from '../../errors.ts';
import type { S3Request } from '../s3-request.ts';

/** What a request says about its own signature, in a header or in the query; nothing of it is believed yet. */
export interface SignatureClaim {
  source: 'header' | 'query';
  accessKeyId: string;
  /** `yyyymmdd`. */
  date: string;
  region: string;
  /** `yyyymmddThhmmssZ`. */
  amzDate: string;
  signedHeaders: readonly string[];
  signature: string;
  /** Only for presigned URLs. */
  expiresSeconds: number | null;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SIGV2 = /^AWS /;

/** Null for a request that does not claim to be signed. Signature Version 2 is refused by name. */
export function readClaim(request: S3Request): SignatureClaim | null {
  const { query, headers } = request;
  const authorization = headers.get('authorization') ?? '';
  const presigned = query.has('X-Amz-Signature') || query.has('X-Amz-Algorithm') || query.has('X-Amz-Credential');
  if (authorization.startsWith('AWS4-')) {
    if (presigned) {
      throw storeErrors.InvalidArgument({
        details: {
          reason:
            'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified',
        },
      });
    }
    return fromHeader(request, authorization);
  }
  if (presigned) return fromQuery(request);
  if (SIGV2.test(authorization) || (query.has('AWSAccessKeyId') && query.has('Signature'))) throw unsupported();
  if (authorization !== '') throw unsupported();
  return null;
}

function fromHeader(request: S3Request, authorization: string): SignatureClaim {
  if (!authorization.startsWith(`${ALGORITHM} `)) throw unsupported();
  if (request.headers.all('authorization').length > 1) throw malformed('it was sent more than once');
  const fields = new Map<string, string>();
  for (const piece of authorization.slice(ALGORITHM.length + 1).split(',')) {
    const at = piece.indexOf('=');
    if (at > 0) fields.set(piece.slice(0, at).trim(), piece.slice(at + 1).trim());
  }
  const signature = fields.get('Signature') ?? '';
  const signedHeaders = fields.get('SignedHeaders') ?? '';
  if (signature === '' || signedHeaders === '') throw malformed('Signature and SignedHeaders are needed');
  const amzDate = request.headers.get('x-amz-date') ?? fromHttpDate(request.headers.get('date'));
  if (amzDate === null) {
    throw storeErrors.AccessDenied({ details: { reason: 'a valid Date or x-amz-date header is needed' } });
  }
  const scope = readScope(fields.get('Credential') ?? '', malformed);
  return {
    source: 'header',
    ...scope,
    amzDate,
    signedHeaders: namesOf(signedHeaders),
    signature,
    expiresSeconds: null,
  };
}

function fromQuery(request: S3Request): SignatureClaim {
  const needed = (name: string): string => {
    const value = request.query.get(name);
    if (value === undefined || value === '') throw malformedQuery(`${name} is needed`);
    return value;
  };
  if (needed('X-Amz-Algorithm') !== ALGORITHM) throw malformedQuery(`X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const names = request.query.parameters.map(({ name }) => name).filter((name) => name.startsWith('X-Amz-'));
  if (new Set(names).size !== names.length) throw malformedQuery('a parameter was sent more than once');
  const expires = needed('X-Amz-Expires');
  if (!/^\d{1,9}$/.test(expires)) throw malformedQuery('X-Amz-Expires should be a number');
  return {
    source: 'query',
    ...readScope(needed('X-Amz-Credential'), malformedQuery),
    amzDate: needed('X-Amz-Date'),
    signedHeaders: namesOf(needed('X-Amz-SignedHeaders')),
    signature: needed('X-Amz-Signature'),
    expiresSeconds: Number(expires),
  };
}

/** `<key>/<date>/<region>/s3/aws4_request`; the key may hold slashes, the region may be empty. */
function readScope(
  credential: string,
  refuse: (reason: string) => Error,
): Pick<SignatureClaim, 'accessKeyId' | 'date' | 'region'> {
  const parts = credential.split('/');
  const [date, region, service, terminator] = parts.slice(-4);
  const accessKeyId = parts.slice(0, -4).join('/');
  if (accessKeyId === '' || date === undefined || region === undefined) throw refuse('the credential is malformed');
  if (!/^\d{8}$/.test(date)) throw refuse('the date of the credential is malformed');
  if (service !== 's3') throw refuse('incorrect service; this endpoint belongs to "s3"');
  if (terminator !== 'aws4_request') throw refuse('incorrect terminal; it should be "aws4_request"');
  return { accessKeyId, date, region };
}

function namesOf(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(';')
    .filter((name) => name !== '')
    .toSorted();
}

function fromHttpDate(value: string | undefined): string | null {
  const timeMs = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

function malformed(reason: string): Error {
  return storeErrors.AuthorizationHeaderMalformed({ details: { reason } });
}

function malformedQuery(reason: string): Error {
  return storeErrors.AuthorizationQueryParametersError({ details: { reason } });
}

function unsupported(): Error {
  return storeErrors.InvalidRequest({
    details: { reason: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.' },
  });
}
