import { PROTOCOL_LIMITS, type CommandOutput, type CommandProgress } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { CommandContext, CommandInput } from './handler.ts';
import { OutputWindow } from './output-window.ts';

export interface RunningCommandOptions {
  commandId: string;
  /** Number of earlier processes that were killed while running it. */
  resumes: number;
  clock: Clock;
  sendProgress(progress: CommandProgress): void;
  sendOutput(output: CommandOutput): Promise<void>;
  /** Resolves when there is a connection again; rejects when the signal aborts. */
  connected(signal: AbortSignal): Promise<void>;
  /** True if the current platform acknowledges output. */
  acknowledgesOutput(): boolean;
}

const PROGRESS_INTERVAL_MS = 1000;
/** Sequences keep increasing when a command is resumed: the platform stores each only once. */
const SEQUENCES_OF_A_RUN = 1_000_000;
const MAX_PENDING_INPUTS = 256;
/** Limit of output that is sent but not stored, in UTF-16 units. */
const MAX_UNSTORED = 4 * PROTOCOL_LIMITS.outputChunkSizeBytes;

/** A running command: its signal, its numbered progress and output, its input. */
export class RunningCommand implements CommandContext {
  readonly commandId: string;
  readonly resumed: boolean;
  readonly #options: RunningCommandOptions;
  readonly #abort = new AbortController();
  readonly #pending: CommandInput[] = [];
  readonly #window: OutputWindow;
  #listener: ((input: CommandInput) => void) | undefined;
  #sequence: number;
  #phase = '';
  #progressAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RunningCommandOptions) {
    this.#options = options;
    this.commandId = options.commandId;
    this.resumed = options.resumes > 0;
    this.#sequence = options.resumes * SEQUENCES_OF_A_RUN;
    this.#window = new OutputWindow({
      send: (output) => options.sendOutput(output),
      connected: (signal) => options.connected(signal),
      acknowledges: () => options.acknowledgesOutput(),
      signal: this.signal,
      maxWaiting: MAX_UNSTORED,
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cancel(reason: Error): void {
    this.#abort.abort(reason);
  }

  progress(phase: string, message: string, counts?: Record<string, number>): void {
    const nowMs = this.#options.clock.nowMs();
    if (phase === this.#phase && nowMs - this.#progressAtMs < PROGRESS_INTERVAL_MS) return;
    this.#phase = phase;
    this.#progressAtMs = nowMs;
    this.#options.sendProgress({
      command_id: this.commandId,
      seq: ++this.#sequence,
      phase,
      message: message.slice(0, 4096),
      ...(counts === undefined ? {} : { counts }),
    });
  }

  /** A lost piece is resent with its sequence over the next connection. */
  output(piece: Omit<CommandOutput, 'command_id' | 'seq'>): Promise<void> {
    return this.#window.add({ command_id: this.commandId, seq: ++this.#sequence, ...piece });
  }

  outputStored(seq: number): void {
    this.#window.stored(seq);
  }

  reconnected(): void {
    this.#window.reconnected();
  }

  /** Resolves when the platform has all output or the command was cancelled: the result must not arrive earlier. */
  outputSettled(): Promise<void> {
    return this.#window.settled();
  }

  onInput(listener: (input: CommandInput) => void): void {
    this.#listener = listener;
    for (const input of this.#pending.splice(0)) listener(input);
  }

  /** Queues input until a listener is registered, up to a limit. Returns false if it was dropped. */
  input(input: CommandInput): boolean {
    if (this.#listener !== undefined) {
      this.#listener(input);
      return true;
    }
    if (this.#pending.length >= MAX_PENDING_INPUTS) return false;
    this.#pending.push(input);
    return true;
  }
}
