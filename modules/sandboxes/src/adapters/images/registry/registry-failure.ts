/** Why a registry request failed, in words for people. Contains no token or signed URL. */
export class RegistryFailure extends Error {
  /** Whether another attempt may succeed, such as after a lost connection or with a busy server. */
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'RegistryFailure';
    this.retryable = options.retryable ?? false;
  }
}
