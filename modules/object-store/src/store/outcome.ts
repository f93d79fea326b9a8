import { AppError } from '@svc/errors';
import { isDiskFault, isDiskFull } from '../domain/disk-failures.ts';
import { isStoreErrorCode, storeErrors, type StoreErrorCode } from '../errors.ts';

/** How one command of a batch ended, in a form that travels between threads. */
export type CommandOutcome =
  | { kind: 'done'; value: unknown }
  /** The command said no; nothing of it was written. */
  | { kind: 'refused'; code: StoreErrorCode; details: Record<string, unknown> }
  /** The database failed; nothing of it was written. */
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
  const disk = { diskFull: isDiskFull(error), diskFault: isDiskFault(error) };
  return { kind: 'failed', message, ...disk, deadlocked: isDeadlock(error) };
}

export function toError(outcome: Exclude<CommandOutcome, { kind: 'done' }>): AppError {
  if (outcome.kind === 'refused') return storeErrors[outcome.code]({ details: outcome.details });
  const cause = new Error(outcome.message);
  if (outcome.diskFull) return storeErrors.InsufficientStorage({ cause });
  return outcome.diskFault ? storeErrors.StorageFault({ cause }) : storeErrors.InternalError({ cause });
}

/** PostgreSQL's `deadlock_detected` and `serialization_failure`: the same command may well succeed when it runs again. */
function isDeadlock(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code; // a foreign error, only compared
  return code === '40P01' || code === '40001';
}
