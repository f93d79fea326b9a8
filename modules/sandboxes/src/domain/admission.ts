import type { Principal } from '@svc/http';
import { breachDetails, type Breach, type Limits } from '@svc/quotas';
import type { AppError } from '@svc/errors';
import { sandboxErrors } from '../errors.ts';

/** Everything that a new record is held against, in the transaction that writes it. */
export interface Admission {
  /** Whom the record counts for besides its workspace and that one's owner. */
  readonly accountableId: string;
  /** How many records that caller may have; null: any number. */
  readonly callerLimit: number | null;
  readonly limits: Limits;
}

/** Why there is no room: the caller's own limit, or a quota of the workspace or its owner. */
export type QuotaRefusal =
  | { readonly by: 'caller'; readonly current: number }
  | { readonly by: 'quota'; readonly breach: Breach };

/** A service account counts as the owner of its workspace: a user can make many, and must not multiply limits by it. */
export function admissionOf(
  { kind, id }: Pick<Principal, 'kind' | 'id'>,
  callerLimit: number | null,
  limits: Limits,
): Admission {
  const accountableId = kind === 'service_account' ? (limits.ownerId ?? limits.workspaceUuid) : id;
  return { accountableId, callerLimit, limits };
}

export function quotaExceeded(breach: Breach): AppError {
  return sandboxErrors.QUOTA_EXCEEDED({ details: breachDetails(breach) });
}

export function callerLimitReached(current: number, limit: number): AppError {
  const remedy = 'an operator can raise sandboxes.max_per_caller in the configuration';
  const details = { quota: 'sandboxes', scope: 'caller', unit: 'count', limit, current, requested: 1, remedy };
  return sandboxErrors.QUOTA_EXCEEDED({ details });
}
