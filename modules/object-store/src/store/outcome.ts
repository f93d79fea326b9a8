import { AppError } from '@svc/errors';
import { parseDatabaseFault } from '@svc/sql/database-fault';
import { isDiskFault, isDiskFull } from '../domain/disk-failures.ts';
import { isStoreErrorCode, serviceUnavailable, storeErrors, type StoreErrorCode } from '../errors.ts';

/** The outcome of one command in a batch. Can be sent between threads. */
export type CommandOutcome =
  | { kind: 'done'; value: unknown }
  /** The command threw a store error. None of it was written. */
  | { kind: 'refused'; code: StoreErrorCode; details: Record<string, unknown> }
  /** The database failed. Unless it is unavailable, nothing was written; otherwise the outcome may be unknown. */
  | { kind: 'failed'; message: string; fault: Fault };

/** `conflict`: a retry of the same command may succeed. */
export type Fault = 'disk' | 'disk-full' | 'conflict' | 'unavailable' | 'other';

export interface Command {
  name: string;
  input: unknown;
}

export function toOutcome(error: unknown): CommandOutcome {
  if (error instanceof AppError && isStoreErrorCode(error.code)) {
    return { kind: 'refused', code: error.code, details: error.details };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AppError && error.code === 'INVALID_TEXT') {
    return { kind: 'refused', code: 'InvalidArgument', details: { reason: message } };
  }
  return { kind: 'failed', message, fault: parseFault(error) };
}

function parseFault(error: unknown): Fault {
  const kind = parseDatabaseFault(error)?.kind;
  if (kind === 'disk-full' || isDiskFull(error)) return 'disk-full';
  if (kind === 'disk' || isDiskFault(error)) return 'disk';
  return kind === 'conflict' || kind === 'unavailable' ? kind : 'other';
}

export function toError(outcome: Exclude<CommandOutcome, { kind: 'done' }>): AppError {
  if (outcome.kind === 'refused') return storeErrors[outcome.code]({ details: outcome.details });
  const cause = new Error(outcome.message);
  switch (outcome.fault) {
    case 'disk-full':
      return storeErrors.InsufficientStorage({ cause });
    case 'disk':
      return storeErrors.StorageFault({ cause });
    case 'conflict':
    case 'unavailable':
      return serviceUnavailable(cause);
    case 'other':
      return storeErrors.InternalError({ cause });
  }
}
