/** Result of an attempt; `done` means that it succeeded. */
export interface Outcome {
  readonly done: boolean;
  readonly detail: string;
}
