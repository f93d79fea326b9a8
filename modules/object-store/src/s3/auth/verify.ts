import type { Clock } from '@svc/runtime';
import {
  canonicalRequest,
  credentialScope,
  stringToSign,
  verifySignature,
  type CanonicalFields,
  type SignatureSeed,
} from '@svc/s3-sign';
import type { Credential, CredentialCache } from '../../domain/credential-cache.ts';
import { storeErrors } from '../../errors.ts';
import type { S3Request } from '../s3-request.ts';
import { readPayloadHash, readDeclaration, type PayloadDeclaration } from './payload-declaration.ts';
import { accessDenied, refuseQuery } from './auth-refusals.ts';
import { readClaim, type SignatureClaim } from './signature-claim.ts';

const MAX_SKEW_MS = 15 * 60_000;

export interface VerifierOptions {
  credentials: CredentialCache;
  clock: Clock;
  regions: readonly string[];
  maxPresignSeconds: number;
}

/** A request with a valid signature. */
export interface Authentication {
  credential: Credential;
  payload: PayloadDeclaration;
  /** Chunk signatures chain from this. */
  seed: SignatureSeed;
}

/**
 * Verifies Signature Version 4 over the raw URL and headers. Returns null for an unsigned request and throws an S3
 * error for an invalid one. Costs one hash and one HMAC once the key is cached.
 */
export async function authenticate(request: S3Request, options: VerifierOptions): Promise<Authentication | null> {
  const claim = readClaim(request, options.regions);
  if (claim === null) return null;
  assertTime(claim, options);
  const credential = await options.credentials.find(claim.accessKeyId);
  if (credential === null) throw storeErrors.InvalidAccessKeyId({ details: { accessKeyId: claim.accessKeyId } });
  if (request.headers.has('x-amz-security-token') || request.query.has('X-Amz-Security-Token')) {
    throw storeErrors.InvalidToken();
  }
  const payloadHash = readPayloadHash(request, claim);
  const payload = readDeclaration(payloadHash);
  assertSignedHeaders(request, claim);
  const seed: SignatureSeed = {
    signature: claim.signature,
    signingKey: credential.signingKey(claim.date, claim.region),
    amzDate: claim.amzDate,
    scope: credentialScope(claim.date, claim.region),
  };
  assertSignature(request, claim, payloadHash, seed);
  options.credentials.noteUse(claim.accessKeyId);
  return { credential, payload, seed };
}

function assertSignature(request: S3Request, claim: SignatureClaim, payloadHash: string, seed: SignatureSeed): void {
  const { method, headers, rawPath } = request;
  const parameters =
    claim.source === 'query'
      ? request.query.parameters.filter(({ name }) => name !== 'X-Amz-Signature')
      : request.query.parameters;
  const { signedHeaders } = claim;
  const fields: CanonicalFields = { method, path: rawPath, parameters, headers, signedHeaders, payloadHash };
  if (verifySignature(fields, seed)) return;
  // Like S3, include what the server signed, so that clients can see the difference.
  const canonical = canonicalRequest(fields);
  throw storeErrors.SignatureDoesNotMatch({
    details: {
      accessKeyId: claim.accessKeyId,
      signatureProvided: seed.signature,
      stringToSign: stringToSign(seed.amzDate, seed.scope, canonical),
      canonicalRequest: canonical,
    },
  });
}

function assertTime({ timeMs, amzDate, expiresSeconds }: SignatureClaim, options: VerifierOptions): void {
  const nowMs = options.clock.nowMs();
  if (expiresSeconds === null && Math.abs(nowMs - timeMs) <= MAX_SKEW_MS) return;
  const serverTime = new Date(nowMs).toISOString();
  if (expiresSeconds === null) {
    throw storeErrors.RequestTimeTooSkewed({
      details: { requestTime: amzDate, serverTime, maxSkewMs: MAX_SKEW_MS },
    });
  }
  if (expiresSeconds < 0) throw refuseQuery('X-Amz-Expires must be non-negative');
  if (expiresSeconds > options.maxPresignSeconds) {
    const most = `${options.maxPresignSeconds} seconds`;
    throw refuseQuery(
      `X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than ${most}`,
    );
  }
  if (timeMs - nowMs > MAX_SKEW_MS) throw accessDenied('Request is not yet valid', { serverTime });
  const expiresAtMs = timeMs + expiresSeconds * 1_000;
  if (nowMs > expiresAtMs || expiresSeconds === 0) {
    const expires = new Date(expiresAtMs).toISOString();
    throw accessDenied('Request has expired', { expiresSeconds, expires, serverTime });
  }
}

/** The host and every `x-amz-` header must be signed, and every header listed as signed must be present. */
function assertSignedHeaders(request: S3Request, claim: SignatureClaim): void {
  const { signedHeaders } = claim;
  const unsigned = signedHeaders.includes('host') ? [] : ['host'];
  for (const name of request.headers.names()) {
    if (name.startsWith('x-amz-') && !signedHeaders.includes(name)) unsigned.push(name);
  }
  if (unsigned.length > 0) {
    const headersNotSigned = unsigned.toSorted().join(', ');
    throw accessDenied('There were headers present in the request which were not signed', { headersNotSigned });
  }
  for (const name of signedHeaders) {
    if (!request.headers.has(name)) throw storeErrors.SignatureDoesNotMatch({ details: { missingHeader: name } });
  }
}
