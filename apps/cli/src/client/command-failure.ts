/** Ends a command with a one-line message. `hint` suggests a remedy. */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(options.hint === undefined ? message : `${message} (${options.hint})`, { cause: options.cause });
    this.name = 'CommandFailure';
    this.exitCode = options.exitCode ?? EXIT.failed;
  }
}

/** Exit codes of all commands, as documented. */
export const EXIT = { failed: 1, usage: 2, interrupted: 130 } as const;

export function usageFailure(message: string, hint?: string): CommandFailure {
  return new CommandFailure(message, { exitCode: EXIT.usage, ...(hint === undefined ? {} : { hint }) });
}
