import { accountErrors } from '../../errors.ts';

/** Null means it never expires. */
export function isExpired(expiresAt: string | null, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now.toISOString();
}

/**
 * The requested expiry in stored form. `latest` is the expiry of the caller's credential, which caps whatever it
 * creates: a leaked short-lived token must not create a permanent one.
 */
export function requestedExpiry(
  asked: string | null | undefined,
  now: Date,
  latest: string | null,
  field = 'expires_at',
): string | null {
  if (asked === null || asked === undefined) return latest;
  const askedMs = Date.parse(asked);
  // The schema accepts RFC 3339 only; a leap second is valid there but not as a Date.
  const expiresAt = Number.isNaN(askedMs) ? '' : new Date(askedMs).toISOString();
  if (expiresAt <= now.toISOString()) {
    throw accountErrors.INVALID_REQUEST({
      details: { field, reason: `${field} must be in the future` },
    });
  }
  if (latest !== null && expiresAt > latest) {
    throw accountErrors.EXPIRY_TOO_LATE({ details: { field, latest } });
  }
  return expiresAt;
}

const USE_RECORDED_EVERY_MS = 60_000;

/** The last use is written at most once a minute, so that reads do not cause a write per request. */
export function isUseDue(lastUsedAt: string | null, now: Date): boolean {
  return lastUsedAt === null || now.getTime() - Date.parse(lastUsedAt) >= USE_RECORDED_EVERY_MS;
}
