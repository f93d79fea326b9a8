import { createHash } from 'node:crypto';
import type { Clock } from '@svc/runtime';
import { isSame, type AccessRecord } from '../../domain/access/access-tokens.ts';
import type { SandboxAccess } from '../../domain/access/sandbox-access.ts';
import { sandboxErrors } from '../../errors.ts';

/** What a signed URL says. */
export interface SignedFile {
  readonly path: string;
  readonly operation: 'read' | 'write';
  readonly username: string;
  readonly signature: string;
  /** Unix time in seconds. */
  readonly expiration: string | undefined;
}

export interface SignatureDeps {
  readonly access: SandboxAccess;
  readonly clock: Clock;
}

/**
 * Finds the sandbox that a signed URL is for. Clients sign with the sandbox's token and send neither the token nor the
 * sandbox: without a header that names it, every running one is tried. Throws SIGNATURE_INVALID.
 */
export async function findSigned(
  file: SignedFile,
  named: string | null,
  { access, clock }: SignatureDeps,
): Promise<AccessRecord> {
  assertInTime(file.expiration, clock);
  // The scheme joins its parts by colons: a URL to read `a:write:b` would also be one to write `a` as `b:read:…`.
  if (file.username.includes(':')) throw sandboxErrors.SIGNATURE_INVALID();
  const record = await access.find(named, (token) => isSame(file.signature, signatureOf(file, token)));
  if (record === null) throw sandboxErrors.SIGNATURE_INVALID();
  return record;
}

/** E2B's scheme: a hash of what is allowed, and of the token that only the client and the platform know. */
function signatureOf({ path, operation, username, expiration }: SignedFile, token: string): string {
  const parts = [path, operation, username, token, ...(expiration === undefined ? [] : [expiration])];
  const hash = createHash('sha256').update(parts.join(':')).digest('base64');
  return `v1_${hash.replace(/(?<!=)=+$/, '')}`;
}

function assertInTime(expiration: string | undefined, clock: Clock): void {
  if (expiration === undefined) return;
  if (!/^-?\d{1,15}$/.test(expiration)) throw sandboxErrors.SIGNATURE_INVALID();
  if (Number(expiration) * 1000 <= clock.nowMs()) throw sandboxErrors.SIGNATURE_EXPIRED();
}
