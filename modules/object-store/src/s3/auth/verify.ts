import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Credential, CredentialCache } from '../../domain/credential-cache.ts';
import { storeErrors } from '../../errors.ts';
import type { S3Request } from '../s3-request.ts';
import { canonicalRequest, stringToSign } from './canonical-request.ts';
import { payloadHashOf, readDeclaration, type PayloadDeclaration } from './payload-declaration.ts';
import { readClaim, type SignatureClaim } from './signature-claim.ts';
import { canonicalPath } from './uri-encode.ts';

const MAX_SKEW_MS = 15 * 60_000;

export interface VerifierOptions {
  credentials: CredentialCache;
  now: () => number;
  regions: readonly string[];
  maxPresignSeconds: number;
}

/** A request whose signature was found right. */
export interface Authentication {
  credential: Credential;
  payload: PayloadDeclaration;
  /** What the signatures of chunks go on from. */
  seed: SignatureSeed;
}

export interface SignatureSeed {
  signature: string;
  signingKey: KeyObject;
  amzDate: string;
  scope: string;
}

/**
 * Signature Version 4 over the raw URL and the raw headers. Null for a request without any signature; everything else is
 * either right or an S3 error. Costs one hash and one HMAC once a key is known.
 */
export async function authenticate(request: S3Request, options: VerifierOptions): Promise<Authentication | null> {
  const claim = readClaim(request);
  if (claim === null) return null;
  assertTime(claim, options);
  if (!options.regions.includes(claim.region)) {
    const reason = `the region '${claim.region}' is wrong; expecting '${options.regions[0] ?? ''}'`;
    throw storeErrors.AuthorizationHeaderMalformed({ details: { reason, region: options.regions[0] ?? '' } });
  }
  assertSignedHeaders(request, claim);
  const credential = await options.credentials.find(claim.accessKeyId);
  if (credential === null) throw storeErrors.InvalidAccessKeyId({ details: { accessKeyId: claim.accessKeyId } });
  if (request.headers.has('x-amz-security-token') || request.query.has('X-Amz-Security-Token')) {
    throw storeErrors.InvalidToken();
  }
  const payloadHash = payloadHashOf(request, claim);
  const signingKey = credential.signingKey(claim.date, claim.region);
  const scope = `${claim.date}/${claim.region}/s3/aws4_request`;
  if (!signatureMatches(request, claim, payloadHash, signingKey, scope)) throw storeErrors.SignatureDoesNotMatch();
  options.credentials.noteUse(claim.accessKeyId);
  return {
    credential,
    payload: readDeclaration(payloadHash),
    seed: { signature: claim.signature, signingKey, amzDate: claim.amzDate, scope },
  };
}

function signatureMatches(
  request: S3Request,
  claim: SignatureClaim,
  payloadHash: string,
  signingKey: KeyObject,
  scope: string,
): boolean {
  const parameters =
    claim.source === 'query'
      ? request.query.parameters.filter(({ name }) => name !== 'X-Amz-Signature')
      : request.query.parameters;
  const matches = (path: string): boolean => {
    const { method, headers } = request;
    const { signedHeaders, amzDate, signature } = claim;
    const canonical = canonicalRequest({ method, path, parameters, headers, signedHeaders, payloadHash });
    return spellingsOf(canonical).some((spelling) =>
      sameSignature(signature, sign(signingKey, stringToSign(amzDate, scope, spelling))),
    );
  };
  if (matches(request.rawPath)) return true;
  // A client may send a path less encoded than it signed it; both spellings name the same key.
  const encoded = canonicalPath(request.rawPath);
  return encoded !== null && encoded !== request.rawPath && matches(encoded);
}

/**
 * Header bytes outside ASCII came to us as one character each. Most clients sign the bytes that they send; some sign UTF-8
 * and send Latin-1.
 */
function spellingsOf(canonical: string): readonly (string | Uint8Array)[] {
  const bytes = Buffer.from(canonical, 'latin1');
  return bytes.length === Buffer.byteLength(canonical) ? [bytes] : [bytes, canonical];
}

export function sign(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** In constant time; a signature of a wrong length is wrong, not an exception. */
export function sameSignature(given: string, expected: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(expected);
  return left.length === right.length && timingSafeEqual(left, right);
}

function assertTime(claim: SignatureClaim, options: VerifierOptions): void {
  const parsed = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(claim.amzDate);
  const [, year, month, day, hour, minute, second] = parsed ?? [];
  const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(timeMs)) throw denied('the date of the request is malformed');
  if (claim.date !== claim.amzDate.slice(0, 8)) {
    throw storeErrors.SignatureDoesNotMatch({ details: { reason: 'the credential is of another day' } });
  }
  const nowMs = options.now();
  if (claim.expiresSeconds === null) {
    if (Math.abs(nowMs - timeMs) > MAX_SKEW_MS) {
      throw storeErrors.RequestTimeTooSkewed({
        details: { requestTime: claim.amzDate, serverTime: new Date(nowMs).toISOString() },
      });
    }
    return;
  }
  if (claim.expiresSeconds < 1 || claim.expiresSeconds > options.maxPresignSeconds) {
    const reason = `X-Amz-Expires must be between 1 and ${options.maxPresignSeconds} seconds`;
    throw storeErrors.AuthorizationQueryParametersError({ details: { reason } });
  }
  if (timeMs - nowMs > MAX_SKEW_MS) throw denied('Request is not yet valid');
  if (nowMs > timeMs + claim.expiresSeconds * 1_000) throw denied('Request has expired');
}

/** The host and everything that S3 acts on must be under the signature, and what is said to be signed must be there. */
function assertSignedHeaders(request: S3Request, claim: SignatureClaim): void {
  const signed = new Set(claim.signedHeaders);
  if (!signed.has('host')) throw notSigned('host');
  for (const name of request.headers.names()) {
    if (name.startsWith('x-amz-') && !signed.has(name)) throw notSigned(name);
  }
  for (const name of signed) {
    if (!request.headers.has(name)) throw storeErrors.SignatureDoesNotMatch({ details: { missingHeader: name } });
  }
}

function notSigned(header: string): Error {
  return storeErrors.AccessDenied({
    details: { reason: 'There were headers present in the request which were not signed', headersNotSigned: header },
  });
}

function denied(reason: string): Error {
  return storeErrors.AccessDenied({ details: { reason } });
}
