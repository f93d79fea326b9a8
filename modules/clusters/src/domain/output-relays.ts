import type { CommandOutput } from '@svc/protocol';
import type { CommandOutcome } from './command.ts';

/** Reads the output of a running `logs` command, which is relayed and never stored. */
export interface OutputReader {
  output(output: CommandOutput): void;
  end(outcome: CommandOutcome): void;
  /** The agent has moved to another replica, so no more output arrives here. */
  lost(): void;
}

/** A `logs` command lives as long as its reader; without one it is cancelled. */
export class OutputRelays {
  readonly #readers = new Map<string, OutputReader & { clusterId: string; sequence: number }>();

  add(clusterId: string, commandId: string, reader: OutputReader): void {
    this.#readers.set(commandId, {
      clusterId,
      sequence: -1,
      output: (output) => reader.output(output),
      end: (outcome) => reader.end(outcome),
      lost: () => reader.lost(),
    });
  }

  remove(commandId: string): void {
    this.#readers.delete(commandId);
  }

  has(commandId: string): boolean {
    return this.#readers.has(commandId);
  }

  /** Commands with a reader here, with their clusters. */
  get commands(): readonly { readonly id: string; readonly clusterId: string }[] {
    return [...this.#readers].map(([id, { clusterId }]) => ({ id, clusterId }));
  }

  clusterOf(commandId: string): string | undefined {
    return this.#readers.get(commandId)?.clusterId;
  }

  lose(commandId: string): void {
    this.#readers.get(commandId)?.lost();
    this.#readers.delete(commandId);
  }

  /** Returns false if the command has no reader here or belongs to another cluster. */
  output(clusterId: string, output: CommandOutput): boolean {
    const reader = this.#readers.get(output.command_id);
    if (reader === undefined || reader.clusterId !== clusterId) return false;
    if (output.seq <= reader.sequence) return true; // resent: the acknowledgement was lost with a connection
    reader.sequence = output.seq;
    reader.output(output);
    return true;
  }

  end(commandId: string, outcome: CommandOutcome): void {
    this.#readers.get(commandId)?.end(outcome);
    this.#readers.delete(commandId);
  }
}
