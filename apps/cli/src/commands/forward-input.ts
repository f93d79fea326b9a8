/** A remote command that accepts input. */
export interface InputTaker {
  /** Resolves when there is room for more. */
  write(data: Buffer): Promise<void>;
  finishInput(): void;
}

/** Forwards stdin until it ends or the command stops reading. */
export async function forwardInput(command: InputTaker): Promise<void> {
  try {
    for await (const piece of process.stdin) await command.write(piece as Buffer); // no encoding is set
    command.finishInput();
  } catch {
    // The command has ended and reads no more; its exit code says how.
  }
}
