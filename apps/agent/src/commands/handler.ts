import type { CommandName, CommandOutput, CommandResult, PlatformPayloads } from '@svc/protocol';

/** How a command ended; the runner adds times and ids. */
export type CommandOutcome = Pick<CommandResult, 'status' | 'error' | 'deploy' | 'exec' | 'logs'>;

/** Input of a running command: standard input and terminal size. */
export type CommandInput =
  | { type: 'stdin'; seq: number; data: Buffer; eof: boolean }
  | { type: 'resize'; rows: number; cols: number };

export interface CommandContext {
  readonly commandId: string;
  /** An earlier process started it and was killed. */
  readonly resumed: boolean;
  /** Aborts when the command is cancelled or the agent stops. */
  readonly signal: AbortSignal;
  /** Best effort and throttled: the result contains the same information. */
  progress(phase: string, message: string, counts?: Record<string, number>): void;
  /**
   * Resolves when the piece has been sent and the unconfirmed output is within its limit. Waits while the platform is
   * offline; rejects if the command is cancelled meanwhile.
   */
  output(piece: Omit<CommandOutput, 'command_id' | 'seq'>): Promise<void>;
  /** Registers the input listener; at most one. */
  onInput(listener: (input: CommandInput) => void): void;
}

/** Runs one kind of command. An exception becomes the `error` of a failed result. */
export interface CommandHandler<Name extends CommandName = CommandName> {
  /** Number of commands ahead in its queue; 0 = starts immediately. */
  position(payload: PlatformPayloads[Name]): number;
  run(payload: PlatformPayloads[Name], context: CommandContext): Promise<CommandOutcome>;
}

export type CommandHandlers = { readonly [Name in CommandName]: CommandHandler<Name> };
