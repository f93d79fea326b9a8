/** A system under test that creates machines. */
export interface Subject {
  readonly name: string;
  /** Milliseconds until the machine is running, and until its shell shows a prompt; both start at the same moment. */
  create(): Promise<{ runningMs: number; promptMs: number }>;
  /** Between measurements: removes everything created and waits until the system is idle. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** Matches the end of a shell's prompt, optionally followed by escape sequences for colors or bracketed paste. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
export const PROMPT = /[#$] (?:\u001B\[[0-9;?]*[A-Za-z])*$/;
