import type { CommandOutput, LogsCommand } from '@svc/protocol';
import type { CommandDispatcher } from './command-dispatcher.ts';
import type { CommandOrigin, CommandRequests } from './command-requests.ts';
import type { CommandOutcome } from './command.ts';
import { LogBuffer } from './log-buffer.ts';
import type { OutputRelays } from './output-relays.ts';

export interface LogSourceOptions {
  requests: CommandRequests;
  dispatcher: CommandDispatcher;
  relays: OutputRelays;
  origin: CommandOrigin;
  payload: LogsCommand;
  /** Aborts when the reader disconnects. */
  signal: AbortSignal;
  /** Reports failures that have no caller. */
  onError: (error: unknown, commandId: string) => void;
}

const MAX_BUFFER_BYTES = 1024 * 1024;
/** Stops asking an agent that ends each time it is asked. */
const MAX_RESUMED_IN_VAIN = 5;

/**
 * The logs of one reader, over as many commands as needed: if the agent's process ends before the followed logs do, the
 * next process resumes after the last line received. The command, and the read in the cluster, is cancelled when the
 * reader disconnects.
 */
export class LogSource {
  readonly buffer = new LogBuffer(MAX_BUFFER_BYTES);
  readonly #options: LogSourceOptions;
  #commandId: string | undefined;
  #position: string | undefined;
  #sizeBytes = 0;
  /** Resumes since the last line. */
  #resumed = 0;

  constructor(options: LogSourceOptions) {
    this.#options = options;
    this.#position = options.payload.resume_after; // in case the agent ends before it sends a position
    options.signal.addEventListener('abort', () => this.#leave(), { once: true });
  }

  /** Rejects if the command is refused. */
  async open(): Promise<void> {
    const { origin, payload } = this.#options;
    await this.#ask(origin, payload);
  }

  async #ask(origin: CommandOrigin, payload: LogsCommand): Promise<void> {
    const { requests, relays, signal, onError } = this.#options;
    let asked: string | undefined;
    try {
      await requests.logs(origin, payload, (id) => {
        asked = id;
        this.#commandId = id;
        // Before the command exists, so that no output is missed.
        relays.add(origin.cluster.id, id, {
          output: (output) => this.#output(output),
          lost: () => this.buffer.lost(),
          end: (outcome) => {
            this.#ended(id, outcome).catch((error: unknown) => {
              onError(error, id);
              this.buffer.end(outcome);
            });
          },
        });
      });
    } catch (error) {
      if (asked !== undefined) relays.remove(asked);
      throw error;
    }
    if (signal.aborted) this.#leave();
  }

  #output(output: CommandOutput): void {
    this.#position = output.position ?? this.#position;
    this.#sizeBytes += Buffer.byteLength(output.data);
    if (output.data !== '') this.#resumed = 0;
    this.buffer.output(output);
  }

  async #ended(commandId: string, outcome: CommandOutcome): Promise<void> {
    const rest = this.#rest();
    if (rest === null || !(await this.#wasInterrupted(commandId, outcome)) || this.#options.signal.aborted) {
      this.buffer.end(outcome);
      return;
    }
    this.#resumed += 1;
    await this.#ask({ ...this.#options.origin, queueIfOffline: true }, rest);
  }

  /** The agent's process ended before its work did, without a cancel request. */
  async #wasInterrupted(commandId: string, { status }: CommandOutcome): Promise<boolean> {
    if (status === 'lost') return true;
    if (status !== 'cancelled') return false;
    const { dispatcher, origin, signal } = this.#options;
    const command = await dispatcher.wait(origin.cluster.id, commandId, 0, signal);
    return command !== undefined && command.cancelRequestedAt === null;
  }

  /** Null if the logs cannot be resumed: they are not followed, or the agent sends no positions. */
  #rest(): LogsCommand | null {
    const { payload } = this.#options;
    if (payload.follow !== true || payload.previous === true || this.#resumed >= MAX_RESUMED_IN_VAIN) return null;
    if (this.#position === undefined) return this.#sizeBytes === 0 ? payload : null;
    const { tail_lines: _tail, since_time: _time, since_seconds: _seconds, limit_bytes: limit, ...same } = payload;
    const left = limit === undefined ? {} : { limit_bytes: Math.max(1, limit - this.#sizeBytes) };
    return { ...same, ...left, resume_after: this.#position };
  }

  #leave(): void {
    const { relays, dispatcher, origin, onError } = this.#options;
    const id = this.#commandId;
    if (id === undefined) return;
    relays.remove(id);
    if (this.buffer.outcome !== undefined) return;
    dispatcher.cancel(origin.cluster.id, id).catch((error: unknown) => onError(error, id));
  }
}
