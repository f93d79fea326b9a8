import { storeErrors } from '../errors.ts';
import type { ObjectAttributes, ObjectRetention } from './ports/records.ts';

export const RETENTION_MODES = ['GOVERNANCE', 'COMPLIANCE'] as const;

/** The document `object-lock`. A bucket that has it is always versioned, and its versions can be locked. */
export interface ObjectLockDocument {
  /** For versions without their own retention. Has either days or years. */
  defaultRetention: { mode: ObjectRetention['mode']; days?: number; years?: number } | null;
}

type Locks = Pick<ObjectAttributes, 'retention' | 'legalHold'>;

const DAY_MS = 86_400_000;
/** Reported as the end of a legal hold, which never expires. */
const NO_END_MS = Number.MAX_SAFE_INTEGER;

export function parseObjectLockDocument(document: string): ObjectLockDocument {
  return JSON.parse(document) as ObjectLockDocument; // written by `JSON.stringify` of the same type
}

export function isRetentionMode(text: string): text is ObjectRetention['mode'] {
  return (RETENTION_MODES as readonly string[]).includes(text); // widened for the lookup
}

/** The bucket's default retention for a new version. A year has 365 days, as at AWS. */
export function computeDefaultRetention(document: ObjectLockDocument, nowMs: number): ObjectRetention | null {
  const { defaultRetention } = document;
  if (defaultRetention === null) return null;
  const days = defaultRetention.days ?? (defaultRetention.years ?? 0) * 365;
  return { mode: defaultRetention.mode, untilMs: nowMs + days * DAY_MS };
}

/** Until when ordinary deletes cannot remove the version. Null if it is not locked. */
export function lockedUntilMs({ retention, legalHold }: Locks): number | null {
  if (legalHold === true) return NO_END_MS;
  return retention?.untilMs ?? null;
}

/** Throws `AccessDenied` for a locked version. Legal holds and compliance mode cannot be bypassed. */
export function assertRemovable({ retention, legalHold }: Locks, nowMs: number, bypassGovernance: boolean): void {
  const held = legalHold === true;
  const retained = retention !== undefined && retention.untilMs > nowMs;
  const bypassed = retained && retention.mode === 'GOVERNANCE' && bypassGovernance;
  if (held || (retained && !bypassed)) throw locked();
}

/** An active retention can be extended. Other changes need the bypass, and compliance mode is never weakened. */
export function assertRetentionChange(
  current: ObjectRetention | undefined,
  next: ObjectRetention | null,
  nowMs: number,
  bypassGovernance: boolean,
): void {
  if (current === undefined || current.untilMs <= nowMs) return;
  const isLonger = next !== null && next.mode === current.mode && next.untilMs >= current.untilMs;
  if (isLonger || (current.mode === 'GOVERNANCE' && bypassGovernance)) return;
  throw locked();
}

function locked(): Error {
  return storeErrors.AccessDenied({ details: { reason: 'Access Denied because object protected by object lock.' } });
}
