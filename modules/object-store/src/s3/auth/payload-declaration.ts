import { UNSIGNED_PAYLOAD } from '@svc/s3-sign';
import { storeErrors } from '../../errors.ts';
import type { S3Request } from '../s3-request.ts';
import type { SignatureClaim } from './signature-claim.ts';

/** What `x-amz-content-sha256` declares about the body. */
export type PayloadDeclaration =
  | { kind: 'hash'; sha256: string }
  | { kind: 'unsigned' }
  /** `aws-chunked` framing. */
  | { kind: 'chunked'; signed: boolean; trailer: boolean };

const CHUNKED: ReadonlyMap<string, PayloadDeclaration> = new Map([
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { kind: 'chunked', signed: true, trailer: false }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { kind: 'chunked', signed: true, trailer: true }],
  ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { kind: 'chunked', signed: false, trailer: true }],
]);

/** The payload hash for the canonical request. */
export function readPayloadHash(request: S3Request, claim: SignatureClaim): string {
  const header = request.headers.get('x-amz-content-sha256');
  if (claim.source === 'query') return request.query.get('X-Amz-Content-Sha256') ?? header ?? UNSIGNED_PAYLOAD;
  if (header === undefined) {
    throw storeErrors.InvalidRequest({
      details: { reason: 'Missing required header for this request: x-amz-content-sha256' },
    });
  }
  return header;
}

/**
 * The payload declaration of an unsigned request. It cannot have signed chunks, since these chain from the request's
 * signature.
 */
export function anonymousPayload(request: S3Request): PayloadDeclaration {
  const declared = readDeclaration(request.headers.get('x-amz-content-sha256') ?? UNSIGNED_PAYLOAD);
  if (declared.kind === 'chunked' && declared.signed) {
    const reason =
      "Anonymous requests don't support this x-amz-content-sha256 value. Please use UNSIGNED-PAYLOAD or STREAMING-UNSIGNED-PAYLOAD-TRAILER.";
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  return declared;
}

export function readDeclaration(payloadHash: string): PayloadDeclaration {
  if (payloadHash === UNSIGNED_PAYLOAD) return { kind: 'unsigned' };
  if (/^[0-9a-fA-F]{64}$/.test(payloadHash)) return { kind: 'hash', sha256: payloadHash.toLowerCase() };
  const chunked = CHUNKED.get(payloadHash);
  if (chunked !== undefined) return chunked;
  if (payloadHash.startsWith('STREAMING-AWS4-ECDSA')) {
    throw storeErrors.NotImplemented({ details: { operation: payloadHash } });
  }
  throw storeErrors.InvalidArgument({
    details: {
      reason:
        'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
      argumentName: 'x-amz-content-sha256',
      argumentValue: payloadHash.slice(0, 100),
    },
  });
}
