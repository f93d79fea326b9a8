/** Something that makes machines to work in, and is timed. */
export interface Subject {
  readonly name: string;
  /** Milliseconds until it runs, and until a shell in it has shown its prompt; the latter begins at the same moment. */
  create(): Promise<{ runningMs: number; promptMs: number }>;
  /** Between measurements: removes what was made and waits until everything is as before. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** The end of what a shell says when it waits for its first line; colours and bracketed paste may stand around it. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
export const PROMPT = /[#$] (?:\u001B\[[0-9;?]*[A-Za-z])*$/;
