/** Why a registry did not give what was asked for, in words for people. Holds no token and no signed address. */
export class RegistryFailure extends Error {
  /** Another attempt may succeed: a lost connection, a server that is busy. */
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'RegistryFailure';
    this.retryable = options.retryable ?? false;
  }
}
