import {
  CHECKSUM_ALGORITHMS,
  checksumHeaderName,
  isBase64,
  parseChecksumAlgorithm,
  type ChecksumAlgorithm,
  type DigestName,
  type DigestResults,
} from '../../domain/checksums/algorithms.ts';
import { storeErrors } from '../../errors.ts';
import type { PayloadDeclaration } from '../auth/payload-declaration.ts';
import type { RequestHeaders } from '../request-headers.ts';
import type { S3Request } from '../s3-request.ts';

/** Everything a request declares about its body, to verify the received bytes against. */
export interface BodyPlan {
  /** Size of the content, without framing. */
  sizeBytes: number;
  payload: PayloadDeclaration;
  md5: Buffer | null;
  /** `value` is null if it comes in the trailer. */
  checksum: { algorithm: ChecksumAlgorithm; value: string | null } | null;
}

export interface BodyPlanOptions {
  /** The checksum headers describe something other than this body. */
  checksumOfAnother?: boolean;
}

export function readBodyPlan(
  request: S3Request,
  payload: PayloadDeclaration,
  { checksumOfAnother = false }: BodyPlanOptions = {},
): BodyPlan {
  return {
    sizeBytes: contentBytes(request, payload),
    payload,
    md5: readMd5(request),
    checksum: checksumOfAnother ? null : readChecksum(request, payload),
  };
}

/** The digests needed to verify the body. */
export function digestsFor(plan: BodyPlan): Set<DigestName> {
  const names = new Set<DigestName>();
  if (plan.payload.kind === 'hash') names.add('SHA256');
  if (plan.md5 !== null) names.add('MD5');
  if (plan.checksum !== null) names.add(plan.checksum.algorithm);
  return names;
}

/** Throws for the first declared digest that does not match. */
export function assertDigests(plan: BodyPlan, digests: DigestResults, trailer: ReadonlyMap<string, string>): void {
  if (plan.payload.kind === 'hash') {
    const [claimedSha256, computedSha256] = [plan.payload.sha256, digests.SHA256?.toString('hex')];
    if (claimedSha256 !== computedSha256) {
      throw storeErrors.XAmzContentSHA256Mismatch({ details: { claimedSha256, computedSha256 } });
    }
  }
  if (plan.md5 !== null) {
    assertSame('Content-MD5', 'what we received', plan.md5.toString('base64'), digests.MD5);
  }
  if (plan.checksum === null) return;
  const { algorithm } = plan.checksum;
  const name = checksumHeaderName(algorithm);
  const value = plan.checksum.value ?? trailer.get(name) ?? '';
  if (!isBase64(value)) throw invalidValue(`${name} trailing`);
  assertSame(algorithm, 'the calculated checksum', value, digests[algorithm]);
}

function assertSame(header: string, what: string, expectedDigest: string, digest: Buffer | undefined): void {
  const calculatedDigest = digest?.toString('base64');
  if (calculatedDigest === expectedDigest) return;
  throw storeErrors.BadDigest({ details: { header, with: what, expectedDigest, calculatedDigest } });
}

function contentBytes(request: S3Request, payload: PayloadDeclaration): number {
  const chunked = payload.kind === 'chunked';
  const text = request.headers.get(chunked ? 'x-amz-decoded-content-length' : 'content-length');
  if (text === undefined) {
    if (!request.headers.has('transfer-encoding') && !chunked) return 0; // no body at all
    throw storeErrors.MissingContentLength();
  }
  if (!/^\d{1,15}$/.test(text)) throw storeErrors.MissingContentLength();
  return Number(text);
}

function readMd5(request: S3Request): Buffer | null {
  const text = request.headers.get('content-md5');
  if (text === undefined) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 16 || bytes.toString('base64') !== text) {
    throw storeErrors.InvalidDigest({ details: { header: 'Content-MD5' } });
  }
  return bytes;
}

function readChecksum(request: S3Request, payload: PayloadDeclaration): BodyPlan['checksum'] {
  const given = announcedAlgorithm(request.headers);
  const trailing = payload.kind === 'chunked' && payload.trailer ? trailingChecksum(request) : null;
  if (given !== null && trailing !== null) throw severalChecksums();
  const algorithm = given ?? trailing;
  if (algorithm === null) return null;
  const announced = request.headers.get('x-amz-sdk-checksum-algorithm');
  if (announced !== undefined && parseChecksumAlgorithm(announced) !== algorithm) {
    throw storeErrors.InvalidRequest({
      details: { reason: 'Value for x-amz-sdk-checksum-algorithm header is invalid.' },
    });
  }
  if (algorithm === trailing) return { algorithm, value: null };
  const name = checksumHeaderName(algorithm);
  const value = request.headers.get(name) ?? '';
  if (!isBase64(value)) throw invalidValue(name);
  return { algorithm, value };
}

/** The algorithm of the checksum header. Throws if there are several. */
export function announcedAlgorithm(headers: RequestHeaders): ChecksumAlgorithm | null {
  const given = CHECKSUM_ALGORITHMS.filter((algorithm) => headers.has(checksumHeaderName(algorithm)));
  if (given.length > 1) throw severalChecksums();
  if (given.length === 0) assertNoUnknownChecksum(headers);
  return given[0] ?? null;
}

const NO_CHECKSUMS: ReadonlySet<string> = new Set([
  'x-amz-checksum-algorithm',
  'x-amz-checksum-mode',
  'x-amz-checksum-type',
]);

/** Reject unknown checksums: accepting one without verifying it would look like verification. */
function assertNoUnknownChecksum(headers: RequestHeaders): void {
  for (const name of headers.names()) {
    if (!name.startsWith('x-amz-checksum-') || NO_CHECKSUMS.has(name)) continue;
    const reason = 'The algorithm type you specified in x-amz-checksum- header is invalid.';
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
}

export function unsupportedChecksum(): Error {
  const valid = CHECKSUM_ALGORITHMS.join(', ');
  const reason = `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${valid}]`;
  return storeErrors.InvalidRequest({ details: { reason } });
}

function severalChecksums(): Error {
  return storeErrors.InvalidRequest({
    details: { reason: 'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.' },
  });
}

function trailingChecksum(request: S3Request): ChecksumAlgorithm | null {
  const names = (request.headers.get('x-amz-trailer') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const found = CHECKSUM_ALGORITHMS.filter((algorithm) => names.includes(checksumHeaderName(algorithm)));
  if (names.some((name) => name !== '') && found.length !== 1) {
    throw storeErrors.InvalidRequest({
      details: { reason: 'The value specified in the x-amz-trailer header is not supported' },
    });
  }
  return found[0] ?? null;
}

function invalidValue(name: string): Error {
  return storeErrors.InvalidRequest({ details: { reason: `Value for ${name} header is invalid.` } });
}
