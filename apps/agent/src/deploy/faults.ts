import { isAppError, type AppError } from '@svc/errors';
import { agentErrors } from '../errors.ts';

const MAX_TOLD = 50;

/** Collects all faults of a manifest, to report them at once and save the author round trips. */
export class Faults {
  readonly #found: AppError[] = [];
  #count = 0;

  add(fault: AppError): void {
    this.#count += 1;
    if (this.#found.length < MAX_TOLD) this.#found.push(fault);
  }

  /** Returns the check's value, or undefined if it refused. Other exceptions are rethrown. */
  try<Value>(check: () => Value): Value | undefined {
    try {
      return check();
    } catch (error) {
      this.#take(error);
      return undefined;
    }
  }

  async tryLater<Value>(check: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await check();
    } catch (error) {
      this.#take(error);
      return undefined;
    }
  }

  /** Throws one error for all faults: the first one's field, every reason, and each under `issues`. */
  assertNone(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    if (this.#count === 1) throw first;
    const reasons = this.#found.map(({ details, message }) => {
      const field = String(details['field']);
      return message.includes(field) ? message : `${field}: ${message}`;
    });
    const more = this.#count - reasons.length;
    const reason = `${this.#count} faults: ${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
    const issues = this.#found.map(({ details }) => ({ field: details['field'], issue: details['reason'] }));
    const details = { field: first.details['field'], reason, issues };
    // FORBIDDEN only if every fault is a missing permission.
    const isForbidden = this.#found.every(({ code }) => code === 'FORBIDDEN');
    throw isForbidden ? agentErrors.FORBIDDEN({ details }) : agentErrors.INVALID_REQUEST({ details });
  }

  #take(error: unknown): void {
    if (!isAppError(error) || (error.code !== 'INVALID_REQUEST' && error.code !== 'FORBIDDEN')) throw error;
    this.add(error);
  }
}
