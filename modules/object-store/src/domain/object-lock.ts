import { storeErrors } from '../errors.ts';
import type { ObjectAttributes, ObjectRetention } from './ports/records.ts';

export const RETENTION_MODES = ['GOVERNANCE', 'COMPLIANCE'] as const;

/** The document `object-lock`. A bucket that has it keeps versions for ever, and may lock them. */
export interface ObjectLockDocument {
  /** For versions that come without a retention of their own; one of days and years is given. */
  defaultRetention: { mode: ObjectRetention['mode']; days?: number; years?: number } | null;
}

type Locks = Pick<ObjectAttributes, 'retention' | 'legalHold'>;

const DAY_MS = 86_400_000;
/** What a legal hold counts as where a time is needed: it has no end. */
const NO_END_MS = Number.MAX_SAFE_INTEGER;

export function parseObjectLockDocument(document: string): ObjectLockDocument {
  return JSON.parse(document) as ObjectLockDocument; // written by `JSON.stringify` of the same shape
}

export function isRetentionMode(text: string): text is ObjectRetention['mode'] {
  return (RETENTION_MODES as readonly string[]).includes(text); // widened only to be asked
}

/** What the bucket gives a new version; a year has 365 days, as at AWS. */
export function defaultRetentionOf(document: ObjectLockDocument, nowMs: number): ObjectRetention | null {
  const { defaultRetention } = document;
  if (defaultRetention === null) return null;
  const days = defaultRetention.days ?? (defaultRetention.years ?? 0) * 365;
  return { mode: defaultRetention.mode, untilMs: nowMs + days * DAY_MS };
}

/** The time before which no ordinary delete removes the version; null: it is not locked at all. */
export function lockedUntilMs({ retention, legalHold }: Locks): number | null {
  if (legalHold === true) return NO_END_MS;
  return retention?.untilMs ?? null;
}

/** Throws `AccessDenied` for a version that may not go now. A legal hold and compliance know no bypass. */
export function assertRemovable({ retention, legalHold }: Locks, nowMs: number, bypassGovernance: boolean): void {
  const held = legalHold === true;
  const retained = retention !== undefined && retention.untilMs > nowMs;
  const bypassed = retained && retention.mode === 'GOVERNANCE' && bypassGovernance;
  if (held || (retained && !bypassed)) throw locked();
}

/** A retention that holds can be made longer; all else needs the bypass, and compliance never gets weaker. */
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
