import { ALGORITHM } from './canonical-request.ts';
import type { SignatureSeed } from './verify.ts';

/** SHA-256 of no bytes, in hexadecimal. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

type Scope = Pick<SignatureSeed, 'amzDate' | 'scope'>;

/**
 * The string to sign of one chunk of an `aws-chunked` body. `previous` is the signature of the chunk before; the first
 * chunk follows the request's signature.
 */
export function chunkStringToSign({ amzDate, scope }: Scope, previous: string, chunkSha256: string): string {
  return `${ALGORITHM}-PAYLOAD\n${amzDate}\n${scope}\n${previous}\n${EMPTY_SHA256}\n${chunkSha256}`;
}

/** The string to sign of the trailer after the last chunk. */
export function trailerStringToSign({ amzDate, scope }: Scope, previous: string, trailerSha256: string): string {
  return `${ALGORITHM}-TRAILER\n${amzDate}\n${scope}\n${previous}\n${trailerSha256}`;
}
