/** A command that runs elsewhere and takes input. */
export interface InputTaker {
  /** Resolves when more may be written. */
  write(data: Buffer): Promise<void>;
  finishInput(): void;
}

/** Passes standard input on until it ends, or the command reads no more. */
export async function forwardInput(command: InputTaker): Promise<void> {
  try {
    for await (const piece of process.stdin) await command.write(piece as Buffer); // no encoding is set
    command.finishInput();
  } catch {
    // The command has ended and reads no more; its exit code says how.
  }
}
