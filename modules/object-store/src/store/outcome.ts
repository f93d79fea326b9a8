import { AppError } from '@svc/errors';
import { parseDatabaseFault } from '@svc/sql/database-fault';
import { isDiskFault, isDiskFull } from '../domain/disk-failures.ts';
import { isStoreErrorCode, storeErrors, type StoreErrorCode } from '../errors.ts';

/** The outcome of one command in a batch. Can be sent between threads. */
export type CommandOutcome =
  | { kind: 'done'; value: unknown }
  /** The command threw a store error. None of it was written. */
  | { kind: 'refused'; code: StoreErrorCode; details: Record<string, unknown> }
  /** The database failed. None of it was written. */
  | { kind: 'failed'; message: string; diskFull: boolean; diskFault: boolean; deadlocked: boolean };

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
  const kind = parseDatabaseFault(error)?.kind;
  return {
    kind: 'failed',
    message,
    diskFull: kind === 'disk-full' || isDiskFull(error),
    diskFault: kind === 'disk' || isDiskFault(error),
    // Retrying the same command may succeed.
    deadlocked: kind === 'conflict',
  };
}

export function toError(outcome: Exclude<CommandOutcome, { kind: 'done' }>): AppError {
  if (outcome.kind === 'refused') return storeErrors[outcome.code]({ details: outcome.details });
  const cause = new Error(outcome.message);
  if (outcome.diskFull) return storeErrors.InsufficientStorage({ cause });
  return outcome.diskFault ? storeErrors.StorageFault({ cause }) : storeErrors.InternalError({ cause });
}
