import type { CommandName, CommandOutput, CommandResult, PlatformPayloads } from '@svc/protocol';

/** How a command ended; times and ids are added by whoever ran it. */
export type CommandOutcome = Pick<CommandResult, 'status' | 'error' | 'deploy' | 'exec' | 'logs'>;

/** Input of a running command: standard input and the size of its terminal. */
export type CommandInput =
  | { type: 'stdin'; seq: number; data: Buffer; eof: boolean }
  | { type: 'resize'; rows: number; cols: number };

export interface CommandContext {
  readonly commandId: string;
  /** An earlier process began it and was killed. */
  readonly resumed: boolean;
  /** Aborts when the command is cancelled or the agent stops. */
  readonly signal: AbortSignal;
  /** Best effort, thinned out: what it says stands in the result as well. */
  progress(phase: string, message: string, counts?: Record<string, number>): void;
  /** Resolves when it left for the network and not too much is unconfirmed; waits while the platform is away, and rejects when the command is cancelled then. */
  output(piece: Omit<CommandOutput, 'command_id' | 'seq'>): Promise<void>;
  /** Who wants input registers here; at most one. */
  onInput(listener: (input: CommandInput) => void): void;
}

/** What runs one kind of command. What it throws becomes the `error` of a failed result. */
export interface CommandHandler<Name extends CommandName = CommandName> {
  /** Commands before this one in its queue; 0 = it starts at once. */
  position(payload: PlatformPayloads[Name]): number;
  run(payload: PlatformPayloads[Name], context: CommandContext): Promise<CommandOutcome>;
}

export type CommandHandlers = { readonly [Name in CommandName]: CommandHandler<Name> };
