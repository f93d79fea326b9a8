import type { Principal } from '@svc/access';
import { breachDetails, type Breach, type Limits } from '@svc/quotas';
import type { AppError } from '@svc/errors';
import { sandboxErrors } from '../errors.ts';

/** The limits that a new record is checked against, in the transaction that writes it. */
export interface Admission {
  /** The principal that the record counts against, besides its workspace and the workspace's owner. */
  readonly accountableId: string;
  /** Maximum number of records for that principal; null for no limit. */
  readonly callerLimit: number | null;
  readonly limits: Limits;
}

/** Why admission was refused: the caller's own limit, or a quota of the workspace or its owner. */
export type QuotaRefusal =
  | { readonly by: 'caller'; readonly current: number }
  | { readonly by: 'quota'; readonly breach: Breach };

/**
 * A service account counts as the owner of its workspace: otherwise users could multiply their limits by creating
 * service accounts.
 */
export function admissionOf(
  { kind, id }: Pick<Principal, 'kind' | 'id'>,
  callerLimit: number | null,
  limits: Limits,
): Admission {
  const accountableId = kind === 'service_account' ? (limits.ownerId ?? limits.workspaceUuid) : id;
  return { accountableId, callerLimit, limits };
}

/** Limits how much callers do per minute. */
export interface CallerLimiter {
  /** Counts one call. Throws RATE_LIMITED and RATE_QUOTA_EXCEEDED. */
  admit(principal: Pick<Principal, 'kind' | 'id'>, workspaceUuid: string): Promise<void>;
}

export function quotaExceeded(breach: Breach): AppError {
  return sandboxErrors.QUOTA_EXCEEDED({ details: breachDetails(breach) });
}

export function callerLimitReached(current: number, limit: number): AppError {
  const remedy = 'an operator can raise sandboxes.max_per_caller in the configuration';
  const details = { quota: 'sandboxes', scope: 'caller', unit: 'count', limit, current, requested: 1, remedy };
  return sandboxErrors.QUOTA_EXCEEDED({ details });
}
