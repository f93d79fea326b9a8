import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createCrc, crcToBase64, type CrcName } from '../s3/crc.ts';

/** A checksum in a response that proves the object's bytes. */
export type ContentProof =
  | { kind: 'crc'; name: CrcName; expected: string }
  | { kind: 'hash'; name: 'md5' | 'sha1' | 'sha256'; encoding: 'hex' | 'base64'; expected: string };

/** Returns all proofs of the whole object, cheapest first. Excludes checksums of checksums, which only prove parts. */
export function parseProofs(headers: IncomingHttpHeaders): ContentProof[] {
  const proofs: ContentProof[] = [];
  const checksum = (name: string): string | undefined => {
    const value = headers[`x-amz-checksum-${name}`];
    return typeof value === 'string' && !value.includes('-') && headers['x-amz-checksum-type'] !== 'COMPOSITE'
      ? value
      : undefined;
  };
  const crc32 = checksum('crc32');
  if (crc32 !== undefined) proofs.push({ kind: 'crc', name: 'crc32', expected: crc32 });
  for (const name of ['sha256', 'sha1'] as const) {
    const expected = checksum(name);
    if (expected !== undefined) proofs.push({ kind: 'hash', name, encoding: 'base64', expected });
  }
  const etag = (headers.etag ?? '').replaceAll('"', '');
  const isMd5 = /^[0-9a-f]{32}$/.test(etag) && headers['x-amz-server-side-encryption-customer-algorithm'] === undefined;
  if (isMd5 && headers['x-amz-server-side-encryption'] !== 'aws:kms') {
    proofs.push({ kind: 'hash', name: 'md5', encoding: 'hex', expected: etag });
  }
  const crc64 = checksum('crc64nvme');
  if (crc64 !== undefined) proofs.push({ kind: 'crc', name: 'crc64nvme', expected: crc64 });
  return proofs;
}

/** Creates a verifier that is fed all bytes in order, and then reports whether they match. */
export function createVerifier(proof: ContentProof): { update: (chunk: Uint8Array) => void; holds: () => boolean } {
  if (proof.kind === 'crc') {
    const crc = createCrc(proof.name);
    return {
      update: (chunk) => crc.update(chunk),
      holds: () => crcToBase64(proof.name, crc.value()) === proof.expected,
    };
  }
  const hash = createHash(proof.name);
  return { update: (chunk) => void hash.update(chunk), holds: () => hash.digest(proof.encoding) === proof.expected };
}
